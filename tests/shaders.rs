//! Every shader parses and validates by itself, and is what its Rust partner declares. No GPU
//! needed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use fnstore::engine::{Binding, Needs, Shader, kernels};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{AddressSpace, Module, ShaderStage, StorageAccess};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What a shader may use beyond plain WGSL.
fn capabilities(needs: Needs) -> Capabilities {
    match needs {
        Needs::Nothing => Capabilities::empty(),
        Needs::Half => Capabilities::SHADER_FLOAT16,
        Needs::MatrixUnits => {
            Capabilities::SHADER_FLOAT16 | Capabilities::SUBGROUP | Capabilities::COOPERATIVE_MATRIX
        }
        other => panic!("no capability is known for {other:?}"),
    }
}

fn module(shader: &Shader) -> Module {
    naga::front::wgsl::parse_str(shader.source)
        .unwrap_or_else(|error| panic!("{}: {}", shader.name, error.emit_to_string(shader.source)))
}

/// What group 0 of a module binds, by binding number.
fn bindings(name: &str, module: &Module) -> Vec<Binding> {
    let mut found = Vec::new();
    for (_, variable) in module.global_variables.iter() {
        let Some(place) = variable.binding else { continue };
        assert_eq!(place.group, 0, "{name} binds in another group");
        let bound = match variable.space {
            AddressSpace::Uniform => {
                Binding::Params { bytes: module.types[variable.ty].inner.size(module.to_ctx()) }
            }
            AddressSpace::Storage { access } if access.contains(StorageAccess::STORE) => {
                Binding::Write
            }
            AddressSpace::Storage { .. } if variable.name.as_deref() == Some("words") => {
                Binding::Words
            }
            AddressSpace::Storage { .. } => Binding::Read,
            other => panic!("{name} binds {other:?}"),
        };
        found.push((place.binding, bound));
    }
    found.sort_by_key(|(binding, _)| *binding);
    for (number, (binding, _)) in found.iter().enumerate() {
        assert_eq!(number as u32, *binding, "{name} leaves a binding out");
    }
    found.into_iter().map(|(_, bound)| bound).collect()
}

#[test]
fn every_shader_is_valid_by_itself() {
    for shader in kernels::shaders() {
        let module = module(shader);
        let mut validator = Validator::new(ValidationFlags::all(), capabilities(shader.needs));
        if let Err(error) = validator.validate(&module) {
            panic!("{}: {}", shader.name, error.emit_to_string(shader.source));
        }
    }
}

#[test]
fn every_shader_is_what_its_partner_declares() {
    for shader in kernels::shaders() {
        let module = module(shader);
        let [entry] = module.entry_points.as_slice() else {
            panic!("{} has {} entry points", shader.name, module.entry_points.len());
        };
        assert_eq!((entry.name.as_str(), entry.stage), (shader.file, ShaderStage::Compute));
        assert_eq!(entry.workgroup_size, shader.workgroup_size, "{}", shader.name);
        assert_eq!(bindings(shader.name, &module), shader.bindings, "{}", shader.name);
    }
}

/// What every adapter has.
#[test]
fn workgroups_share_no_more_memory_than_there_is() {
    for shader in kernels::shaders() {
        let module = module(shader);
        let shared = module
            .global_variables
            .iter()
            .filter(|(_, variable)| variable.space == AddressSpace::WorkGroup);
        let bytes: u32 =
            shared.map(|(_, variable)| module.types[variable.ty].inner.size(module.to_ctx())).sum();
        let most = 16 * 1024;
        assert!(bytes <= most, "{} shares {bytes} bytes", shader.name);
    }
}

#[test]
fn every_file_of_shaders_is_a_kernel_of_the_same_name() {
    let files: BTreeSet<String> = fs::read_dir(root().join("shaders"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let named: BTreeSet<String> =
        kernels::shaders().iter().map(|shader| shader.file.to_owned()).collect();
    assert_eq!(files, named);
    for Shader { name, .. } in kernels::shaders() {
        let partner = root().join("src/engine/compute/kernels").join(format!("{name}.rs"));
        assert!(partner.is_file(), "{name} has no file in src/engine/compute/kernels");
    }
    for name in files {
        let text = fs::read_to_string(root().join("shaders").join(format!("{name}.wgsl"))).unwrap();
        assert!(text.starts_with(&format!("// {name}: ")), "{name}.wgsl does not say what it is");
        for part in ["// Shapes ", "// Bindings ", "// Dispatch ", "// Reference "] {
            assert!(text.contains(part), "{name}.wgsl does not say its {}", &part[3..]);
        }
    }
}
