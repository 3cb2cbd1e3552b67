//! SPIR-V that keeps the Vulkan memory model in workgroup memory: an edit of what naga 30 writes.
//!
//! naga declares the Vulkan memory model for every module with cooperative matrices. That model
//! counts an access as private unless it says otherwise, and a barrier makes nothing available or
//! visible unless it says so. naga says neither (wgpu's issues 8805 and 10016). So a driver may
//! give one lane's write to workgroup memory to no other lane. [`edit`] adds both. It also drops
//! the stride of arrays that lie in workgroup memory alone, which Vulkan does not allow there.
//!
//! An experiment: `cargo bench --bench units` runs shaders with and without the edit. No shader of
//! a network is edited.
//!
//! Numbers of instructions and operands are those of the SPIR-V specification, section 3.

use std::collections::{HashMap, HashSet};

/// Words of a module before its first instruction.
const HEADER: usize = 5;
/// The word of the header that bounds ids.
const BOUND: usize = 3;

const TYPE_INT: u32 = 21;
const TYPE_POINTER: u32 = 32;
const CONSTANT: u32 = 43;
const PARAMETER: u32 = 55;
const VARIABLE: u32 = 59;
const LOAD: u32 = 61;
const STORE: u32 = 62;
const ACCESS_CHAIN: u32 = 65;
const IN_BOUNDS_ACCESS_CHAIN: u32 = 66;
const DECORATE: u32 = 71;
const CONTROL_BARRIER: u32 = 224;
const FRAGMENT_LOAD: u32 = 4457;
const FRAGMENT_STORE: u32 = 4458;

const WORKGROUP: u32 = 4;
const ARRAY_STRIDE: u32 = 6;
/// The memory operand of an access that others see.
const NON_PRIVATE_POINTER: u32 = 0x20;
/// What naga's barriers of workgroup memory mean: acquire and release, workgroup memory.
const ACQUIRE_RELEASE: u32 = 0x108;
/// The same, which makes written memory available and visible.
const AVAILABLE_AND_VISIBLE: u32 = ACQUIRE_RELEASE | 0x2000 | 0x4000;

/// How much of the edit is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Strides of arrays in workgroup memory are dropped.
    Strides,
    /// Strides, accesses and barriers.
    Whole,
}

/// A module after its edit, and how many of its instructions changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edited {
    /// The module.
    pub words: Vec<u32>,
    /// Loads of numbers.
    pub loads: usize,
    /// Stores of numbers.
    pub stores: usize,
    /// Loads and stores of fragments of matrices.
    pub fragments: usize,
    /// Barriers.
    pub barriers: usize,
    /// Strides that were dropped.
    pub strides: usize,
}

/// Edits a module that naga 30 wrote.
///
/// `None` if it is no module, or has accesses of workgroup memory that naga 30 does not write.
///
/// ```
/// use fnstore::engine::spirv::{Part, edit};
/// let empty = [0x0723_0203, 0x0001_0600, 0, 1, 0];
/// assert_eq!(edit(&empty, Part::Whole).unwrap().words, empty);
/// assert_eq!(edit(&empty[1..], Part::Whole), None);
/// ```
pub fn edit(words: &[u32], part: Part) -> Option<Edited> {
    let (header, body) = words.split_at_checked(HEADER)?;
    let module = Module::read(body)?;
    let mut edited = Edited { words: header.to_vec(), ..Edited::default() };
    let semantics = edited.words[BOUND];
    for &instruction in &module.instructions {
        if module.is_stride(instruction) {
            edited.strides += 1;
            continue;
        }
        if part == Part::Strides {
            edited.words.extend(instruction);
            continue;
        }
        match (opcode(instruction), instruction) {
            // One more constant, behind the type that it is of.
            (TYPE_INT, [_, uint, 32, 0]) => {
                edited.words.extend(instruction);
                edited.words.extend([first(CONSTANT, 4), *uint, semantics]);
                edited.words.push(AVAILABLE_AND_VISIBLE);
                edited.words[BOUND] = semantics.checked_add(1)?;
            }
            (CONTROL_BARRIER, [head, execution, memory, of])
                if module.constants.get(of) == Some(&ACQUIRE_RELEASE) =>
            {
                edited.words.extend([head, execution, memory, &semantics]);
                edited.barriers += 1;
            }
            (code, _) => match module.accesses_workgroup(instruction)? {
                true => {
                    edited.words.push(first(code, instruction.len() + 1));
                    edited.words.extend(&instruction[1..]);
                    edited.words.push(NON_PRIVATE_POINTER);
                    match code {
                        LOAD => edited.loads += 1,
                        STORE => edited.stores += 1,
                        _ => edited.fragments += 1,
                    }
                }
                false => edited.words.extend(instruction),
            },
        }
    }
    // The constant's type stands before everything that is of it.
    let has_constant = edited.words[BOUND] != semantics;
    (edited.barriers == 0 || has_constant).then_some(edited)
}

/// The first word of an instruction.
fn first(code: u32, length: usize) -> u32 {
    (length as u32) << 16 | code
}

fn opcode(instruction: &[u32]) -> u32 {
    instruction[0] & 0xffff
}

/// What an edit must know of a module before it begins.
#[derive(Default)]
struct Module<'a> {
    instructions: Vec<&'a [u32]>,
    /// Types of pointers to workgroup memory.
    pointers: HashSet<u32>,
    /// What lies in workgroup memory, and what lies elsewhere.
    pointees: HashSet<u32>,
    elsewhere: HashSet<u32>,
    /// The types of variables and of pointers into them.
    types: HashMap<u32, u32>,
    /// Constants of 32 bits.
    constants: HashMap<u32, u32>,
}

impl<'a> Module<'a> {
    fn read(mut body: &'a [u32]) -> Option<Self> {
        let mut module = Self::default();
        while let Some(head) = body.first() {
            let length = (head >> 16) as usize;
            if length == 0 {
                return None;
            }
            let (instruction, rest) = body.split_at_checked(length)?;
            module.add(instruction);
            body = rest;
        }
        Some(module)
    }

    fn add(&mut self, instruction: &'a [u32]) {
        self.instructions.push(instruction);
        match (opcode(instruction), instruction) {
            (TYPE_POINTER, [_, pointer, class, pointee]) => {
                if *class == WORKGROUP {
                    self.pointers.insert(*pointer);
                    self.pointees.insert(*pointee);
                } else {
                    self.elsewhere.insert(*pointee);
                }
            }
            (
                VARIABLE | ACCESS_CHAIN | IN_BOUNDS_ACCESS_CHAIN | PARAMETER,
                [_, of, pointer, ..],
            ) => {
                self.types.insert(*pointer, *of);
            }
            (CONSTANT, [_, _, constant, value]) => {
                self.constants.insert(*constant, *value);
            }
            _ => {}
        }
    }

    /// Whether an instruction gives an array its stride that lies in workgroup memory alone.
    fn is_stride(&self, instruction: &[u32]) -> bool {
        matches!(instruction, [head, of, ARRAY_STRIDE, ..] if head & 0xffff == DECORATE
            && self.pointees.contains(of) && !self.elsewhere.contains(of))
    }

    /// Whether an instruction reads or writes workgroup memory; `None` if it says already how.
    fn accesses_workgroup(&self, instruction: &[u32]) -> Option<bool> {
        let (pointer, plain) = match opcode(instruction) {
            LOAD => (instruction.get(3), 4),
            STORE => (instruction.get(1), 3),
            FRAGMENT_LOAD => (instruction.get(3), 6),
            FRAGMENT_STORE => (instruction.get(1), 5),
            _ => return Some(false),
        };
        let of = pointer.and_then(|pointer| self.types.get(pointer));
        match of.is_some_and(|of| self.pointers.contains(of)) {
            true => (instruction.len() == plain).then_some(true),
            false => Some(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module with one array in workgroup memory, which `access` reaches.
    fn module(access: &[u32]) -> Vec<u32> {
        let head = [0x0723_0203, 0x0001_0600, 0, 20, 0];
        let rest: [&[u32]; 9] = [
            &[first(DECORATE, 4), 3, ARRAY_STRIDE, 4],
            &[first(DECORATE, 4), 4, ARRAY_STRIDE, 4],
            &[first(TYPE_INT, 4), 1, 32, 0],
            &[first(CONSTANT, 4), 1, 2, ACQUIRE_RELEASE],
            &[first(TYPE_POINTER, 4), 5, WORKGROUP, 3],
            &[first(TYPE_POINTER, 4), 6, 12, 4],
            &[first(VARIABLE, 4), 5, 7, WORKGROUP],
            &[first(VARIABLE, 4), 6, 8, 12],
            access,
        ];
        [&head[..], &rest.concat()].concat()
    }

    #[test]
    fn accesses_of_workgroup_memory_alone_are_no_longer_private() {
        let edited = edit(&module(&[first(STORE, 3), 7, 2]), Part::Whole).unwrap();
        assert_eq!((edited.stores, edited.strides, edited.barriers), (1, 1, 0));
        assert!(edited.words.ends_with(&[first(STORE, 4), 7, 2, NON_PRIVATE_POINTER]));
        let elsewhere = [first(STORE, 3), 8, 2];
        let edited = edit(&module(&elsewhere), Part::Whole).unwrap();
        assert!(edited.stores == 0 && edited.words.ends_with(&elsewhere));
    }

    #[test]
    fn a_barrier_takes_a_constant_of_its_own() {
        let barrier = [first(CONTROL_BARRIER, 4), 2, 2, 2];
        let edited = edit(&module(&barrier), Part::Whole).unwrap();
        assert_eq!((edited.words[BOUND], edited.barriers), (21, 1));
        let constant = [first(CONSTANT, 4), 1, 20, AVAILABLE_AND_VISIBLE];
        assert!(edited.words.windows(4).any(|words| words == constant));
        assert!(edited.words.ends_with(&[first(CONTROL_BARRIER, 4), 2, 2, 20]));
    }

    #[test]
    fn strides_are_dropped_without_the_rest() {
        let whole = module(&[first(STORE, 3), 7, 2]);
        let edited = edit(&whole, Part::Strides).unwrap();
        assert_eq!(edited.words, [&whole[..HEADER], &whole[HEADER + 4..]].concat());
        assert_eq!((edited.strides, edited.stores), (1, 0));
    }

    #[test]
    fn what_is_cut_short_or_says_how_it_accesses_is_refused() {
        let whole = module(&[first(STORE, 4), 7, 2, 2]);
        assert_eq!(edit(&whole, Part::Whole), None, "a store with memory operands");
        assert_eq!(edit(&whole[..whole.len() - 1], Part::Whole), None);
        assert_eq!(edit(&module(&[0]), Part::Whole), None, "an instruction of no words");
    }
}
