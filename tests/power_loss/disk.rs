//! A small model of a file system, and the disks that a loss of power could leave of it.
//!
//! What a call writes is *pending* until a sync makes it durable:
//! - the content of a file by `fsync` or `fdatasync` of the file, which does nothing for its name;
//! - a name (made, renamed or removed) by `fsync` of its directory. A rename is one step: both
//!   names change or none, and either directory's sync brings it to the disk.
//!
//! Of what is pending any part may be on the disk after a loss of power: of a file each block of 4
//! KiB by itself as it was after some of the writes, and the length likewise, but no length without
//! the content that it covers; of names any of the steps, but none before an earlier one in the
//! same directory. ext4 (`data=ordered`), XFS and Btrfs promise that and more: RocksDB rests on it
//! where it makes a MANIFEST and names it in CURRENT.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use super::trace::{Call, Event, number};

const BLOCK: usize = 4096;

type InodeId = usize;
type Name = (InodeId, String);

#[derive(Debug, Clone)]
enum Edit {
    Write { at: usize, bytes: Vec<u8> },
    Length(usize),
}

impl Edit {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::Write { at, bytes } => {
                let end = at + bytes.len();
                if content.len() < end {
                    content.resize(end, 0);
                }
                content[*at..end].copy_from_slice(bytes);
            }
            Self::Length(length) => content.resize(*length, 0),
        }
    }
}

#[derive(Debug, Clone, Default)]
struct Inode {
    is_directory: bool,
    durable: Vec<u8>,
    pending: Vec<Edit>,
    /// Pending edits that were ever made durable: numbers them through.
    synced: usize,
}

impl Inode {
    fn with_all(&self) -> Vec<u8> {
        let mut content = self.durable.clone();
        self.pending.iter().for_each(|edit| edit.apply(&mut content));
        content
    }

    /// What a loss of power may leave: each block as of some of the pending edits.
    fn torn(&self, random: &mut dyn FnMut(u64) -> u64) -> Vec<u8> {
        if self.pending.is_empty() {
            return self.durable.clone();
        }
        let mut states = vec![self.durable.clone()];
        for edit in &self.pending {
            let mut next = states.last().expect("one at least").clone();
            edit.apply(&mut next);
            states.push(next);
        }
        let count = states.len();
        let mut pick = |from: usize| from + random((count - from) as u64) as usize;
        let of_length = pick(0);
        let length = states[of_length].len();
        let mut content = vec![0; length];
        for start in (0..length).step_by(BLOCK) {
            let grows = start + BLOCK > self.durable.len();
            let state = &states[pick(if grows { of_length } else { 0 })];
            let end = length.min(start + BLOCK).min(state.len());
            if start < end {
                content[start..end].copy_from_slice(&state[start..end]);
            }
        }
        content
    }
}

/// A step that changes names.
#[derive(Debug, Clone)]
struct Step {
    number: usize,
    /// What the names lead to after it; `None` to nothing.
    names: Vec<(Name, Option<InodeId>)>,
}

impl Step {
    fn apply(&self, names: &mut BTreeMap<Name, InodeId>) {
        for (name, inode) in &self.names {
            match inode {
                Some(inode) => names.insert(name.clone(), *inode),
                None => names.remove(name),
            };
        }
    }

    fn touches(&self, other: &Self) -> bool {
        let directories = |step: &'_ Self| -> BTreeSet<InodeId> {
            step.names.iter().map(|((directory, _), _)| *directory).collect()
        };
        !directories(self).is_disjoint(&directories(other))
    }
}

#[derive(Debug, Clone)]
struct OpenFile {
    inode: InodeId,
    at: usize,
    appends: bool,
}

/// The files under a directory.
#[derive(Debug, Default)]
pub(super) struct Disk {
    root: String,
    inodes: Vec<Inode>,
    names: BTreeMap<Name, InodeId>,
    durable_names: BTreeMap<Name, InodeId>,
    steps: Vec<Step>,
    next_step: usize,
    open: HashMap<i64, OpenFile>,
    /// Syncs that have begun, by process: the file, and how much of it or of the steps counts.
    syncs: HashMap<u32, (InodeId, usize, usize)>,
}

/// The files that a loss of power leaves, by path; a directory has no content.
pub(super) type Image = BTreeMap<String, Option<Arc<[u8]>>>;

/// How much of what is pending is on a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Survives {
    Nothing,
    All,
    /// All names, and no content.
    Names,
    /// All content, and no name.
    Content,
    /// Any part, drawn by a number.
    Parts(u64),
}

impl Disk {
    /// The files that are under a directory now, all of them durable.
    pub(super) fn of(root: &Path) -> Self {
        let mut disk = Self { root: root.to_str().unwrap().to_owned(), ..Self::default() };
        disk.inodes.push(Inode { is_directory: true, ..Inode::default() });
        disk.load(root, 0);
        disk.names = disk.durable_names.clone();
        disk
    }

    fn load(&mut self, directory: &Path, inode: InodeId) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let is_directory = entry.file_type().unwrap().is_dir();
            let durable =
                if is_directory { Vec::new() } else { std::fs::read(entry.path()).unwrap() };
            self.inodes.push(Inode { is_directory, durable, ..Inode::default() });
            let own = self.inodes.len() - 1;
            let name = entry.file_name().into_string().unwrap();
            self.durable_names.insert((inode, name), own);
            if is_directory {
                self.load(&entry.path(), own);
            }
        }
    }

    /// Where a path leads: the directory, and the name in it; `None` outside of the root.
    fn place(&self, directory: i64, path: &str) -> Option<Name> {
        let (mut at, rest) = match path.strip_prefix(&self.root) {
            Some(rest) => (0, rest),
            None if path.starts_with('/') => return None,
            None => (self.open.get(&directory)?.inode, path),
        };
        let mut parts: Vec<&str> =
            rest.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let last = parts.pop().unwrap_or(".").to_owned();
        for part in parts {
            assert_ne!(part, "..", "{path}");
            at = *self.names.get(&(at, part.to_owned()))?;
        }
        Some((at, last))
    }

    fn lookup(&self, place: &Name) -> Option<InodeId> {
        if place.1 == "." { Some(place.0) } else { self.names.get(place).copied() }
    }

    fn step(&mut self, names: Vec<(Name, Option<InodeId>)>) {
        let step = Step { number: self.next_step, names };
        self.next_step += 1;
        step.apply(&mut self.names);
        self.steps.push(step);
    }

    fn make(&mut self, place: Name, is_directory: bool) -> InodeId {
        self.inodes.push(Inode { is_directory, ..Inode::default() });
        let inode = self.inodes.len() - 1;
        self.step(vec![(place, Some(inode))]);
        inode
    }

    /// Takes up an event. Whether a sync came to its end is asked before, by [`ends_a_sync`].
    pub(super) fn take(&mut self, event: &Event) {
        match event {
            Event::Begun { process, name, arguments } => {
                let file = number(&arguments[0]);
                match name.as_str() {
                    "close" => drop(self.open.remove(&file)),
                    "fsync" | "fdatasync" => {
                        if let Some(OpenFile { inode, .. }) = self.open.get(&file) {
                            let edits = &self.inodes[*inode];
                            let edits = edits.synced + edits.pending.len();
                            self.syncs.insert(*process, (*inode, edits, self.next_step));
                        }
                    }
                    _ => {}
                }
            }
            Event::Done { process, call } if call.result >= 0 => self.done(*process, call),
            Event::Done { process, .. } => drop(self.syncs.remove(process)),
        }
    }

    /// Whether an event is the end of a sync of a file under the root.
    pub(super) fn ends_a_sync(&self, event: &Event) -> bool {
        matches!(event, Event::Done { process, call }
            if call.name.ends_with("sync") && self.syncs.contains_key(process))
    }

    fn done(&mut self, process: u32, call: &Call) {
        match call.name.as_str() {
            "open" | "creat" => self.opened(-1, 0, call),
            "openat" | "openat2" => self.opened(call.number(0), 1, call),
            "dup" | "dup2" | "dup3" => self.duplicated(call),
            "fcntl" if call.arguments[1].starts_with("F_DUPFD") => self.duplicated(call),
            "read" => self.moved(call, |file, count| file.at + count),
            "lseek" => self.moved(call, |_, place| place),
            "write" => self.written(call, call.bytes_if(1), None),
            "writev" => self.written(call, call.gathered_if(1), None),
            "pwrite64" => self.written(call, call.bytes_if(1), Some(3)),
            "pwritev" | "pwritev2" => self.written(call, call.gathered_if(1), Some(3)),
            "ftruncate" => {
                if let Some(file) = self.open.get(&call.number(0)) {
                    let length = Edit::Length(call.number(1) as usize);
                    self.inodes[file.inode].pending.push(length);
                }
            }
            "truncate" => {
                if let Some(inode) = self.place(-1, &call.path(0)).and_then(|at| self.lookup(&at)) {
                    let length = Edit::Length(call.number(1) as usize);
                    self.inodes[inode].pending.push(length);
                }
            }
            "fallocate" => self.allocated(call),
            "copy_file_range" => self.copied(call),
            "rename" => self.renamed(call, (-1, 0), (-1, 1)),
            "renameat" | "renameat2" => {
                self.renamed(call, (call.number(0), 1), (call.number(2), 3));
            }
            "unlink" | "rmdir" => self.removed(-1, &call.path(0)),
            "unlinkat" => self.removed(call.number(0), &call.path(1)),
            "mkdir" => self.made(-1, &call.path(0)),
            "mkdirat" => self.made(call.number(0), &call.path(1)),
            "fsync" | "fdatasync" => self.synced(process),
            "mmap" => self.require_read_only(call),
            "link" | "linkat" | "symlink" | "symlinkat" | "sendfile" | "splice"
            | "io_uring_setup" => {
                let inside =
                    call.arguments.iter().any(|argument| self.open.contains_key(&number(argument)));
                assert!(!inside, "{} is not modelled", call.name);
            }
            _ => {}
        }
    }

    fn opened(&mut self, directory: i64, at: usize, call: &Call) {
        let Some(place) = self.place(directory, &call.path(at)) else { return };
        let inode = match self.lookup(&place) {
            Some(inode) => inode,
            None => self.make(place, false),
        };
        let has = |flag| call.has(at + 1, flag);
        if has("O_TRUNC") || call.name == "creat" {
            self.inodes[inode].pending.push(Edit::Length(0));
        }
        self.open.insert(call.result, OpenFile { inode, at: 0, appends: has("O_APPEND") });
    }

    fn duplicated(&mut self, call: &Call) {
        // The two share their place in the file; nothing here writes through both.
        if let Some(file) = self.open.get(&call.number(0)).cloned() {
            self.open.insert(call.result, file);
        }
    }

    fn moved(&mut self, call: &Call, to: impl Fn(&OpenFile, usize) -> usize) {
        if let Some(file) = self.open.get_mut(&call.number(0)) {
            file.at = to(file, call.result as usize);
        }
    }

    fn written(&mut self, call: &Call, bytes: impl FnOnce() -> Vec<u8>, place: Option<usize>) {
        let Some(file) = self.open.get_mut(&call.number(0)) else { return };
        let inode = &mut self.inodes[file.inode];
        let mut bytes = bytes();
        bytes.truncate(call.result as usize);
        let at = match place {
            Some(argument) => call.number(argument) as usize,
            None if file.appends => inode.with_all().len(),
            None => file.at,
        };
        if place.is_none() {
            file.at = at + bytes.len();
        }
        inode.pending.push(Edit::Write { at, bytes });
    }

    fn allocated(&mut self, call: &Call) {
        let Some(file) = self.open.get(&call.number(0)) else { return };
        if !call.arguments[1].contains("KEEP_SIZE") {
            let inode = &mut self.inodes[file.inode];
            let end = (call.number(2) + call.number(3)) as usize;
            let length = inode.with_all().len().max(end);
            inode.pending.push(Edit::Length(length));
        }
    }

    fn copied(&mut self, call: &Call) {
        let (from, to) = (call.number(0), call.number(2));
        if !self.open.contains_key(&to) {
            return;
        }
        assert_eq!((&*call.arguments[1], &*call.arguments[3]), ("NULL", "NULL"), "{call:?}");
        let source = self.open.get_mut(&from).expect("a copy from outside is not modelled");
        let count = call.result as usize;
        let start = source.at;
        source.at += count;
        let bytes = self.inodes[source.inode].with_all()[start..start + count].to_vec();
        let target = self.open.get_mut(&to).expect("it is there");
        self.inodes[target.inode].pending.push(Edit::Write { at: target.at, bytes });
        target.at += count;
    }

    fn renamed(&mut self, call: &Call, from: (i64, usize), to: (i64, usize)) {
        let from = self.place(from.0, &call.path(from.1));
        let to = self.place(to.0, &call.path(to.1));
        match (from, to) {
            (Some(from), Some(to)) => {
                let inode = self.lookup(&from).expect("what was renamed was there");
                // Names that are exchanged change in one step, too.
                let left = if call.has(4, "RENAME_EXCHANGE") { self.lookup(&to) } else { None };
                self.step(vec![(from, left), (to, Some(inode))]);
            }
            (None, None) => {}
            _ => panic!("a rename across the root: {call:?}"),
        }
    }

    fn removed(&mut self, directory: i64, path: &str) {
        if let Some(place) = self.place(directory, path) {
            self.step(vec![(place, None)]);
        }
    }

    fn made(&mut self, directory: i64, path: &str) {
        if let Some(place) = self.place(directory, path) {
            self.make(place, true);
        }
    }

    fn require_read_only(&self, call: &Call) {
        let is_written = call.has(2, "PROT_WRITE") && call.has(3, "MAP_SHARED");
        let is_inside = self.open.contains_key(&call.number(4));
        assert!(!(is_written && is_inside), "writing by a map is not modelled: {call:?}");
    }

    fn synced(&mut self, process: u32) {
        let Some((inode, edits, before)) = self.syncs.remove(&process) else { return };
        let file = &mut self.inodes[inode];
        if !file.is_directory {
            let count = edits.saturating_sub(file.synced);
            for edit in file.pending.drain(..count) {
                edit.apply(&mut file.durable);
            }
            file.synced += count;
            return;
        }
        // The directory's own steps, and those that they rest on.
        let mut wanted: BTreeSet<usize> = BTreeSet::new();
        for at in (0..self.steps.len()).rev() {
            let step = &self.steps[at];
            let own = step.number < before && step.names.iter().any(|((dir, _), _)| *dir == inode);
            let is_rested_on = self.steps[at + 1..]
                .iter()
                .any(|later| wanted.contains(&later.number) && later.touches(step));
            if own || is_rested_on {
                wanted.insert(step.number);
            }
        }
        let (done, left) = std::mem::take(&mut self.steps)
            .into_iter()
            .partition(|step| wanted.contains(&step.number));
        self.steps = left;
        let done: Vec<Step> = done;
        done.iter().for_each(|step| step.apply(&mut self.durable_names));
    }

    /// The disk that a loss of power leaves now.
    pub(super) fn image(&self, survives: Survives) -> Image {
        let mut random = random(if let Survives::Parts(seed) = survives { seed } else { 0 });
        let mut names = self.durable_names.clone();
        let mut left_out: Vec<&Step> = Vec::new();
        for step in &self.steps {
            let is_there = match survives {
                Survives::Nothing | Survives::Content => false,
                Survives::All | Survives::Names => true,
                Survives::Parts(_) => random(2) == 0,
            };
            if is_there && !left_out.iter().any(|earlier| earlier.touches(step)) {
                step.apply(&mut names);
            } else {
                left_out.push(step);
            }
        }
        let mut image = Image::new();
        self.lay_out(&names, 0, "", &mut image, &mut |inode: &Inode| match survives {
            Survives::Nothing | Survives::Names => inode.durable.clone(),
            Survives::All | Survives::Content => inode.with_all(),
            Survives::Parts(_) => inode.torn(&mut random),
        });
        image
    }

    fn lay_out(
        &self,
        names: &BTreeMap<Name, InodeId>,
        directory: InodeId,
        path: &str,
        image: &mut Image,
        content: &mut dyn FnMut(&Inode) -> Vec<u8>,
    ) {
        let own = (directory, String::new())..(directory + 1, String::new());
        for ((_, name), inode) in names.range(own) {
            let path = format!("{path}/{name}");
            let file = &self.inodes[*inode];
            if file.is_directory {
                self.lay_out(names, *inode, &path, image, content);
                image.insert(path, None);
            } else {
                image.insert(path, Some(content(file).into()));
            }
        }
    }
}

impl Call {
    fn bytes_if(&self, at: usize) -> impl FnOnce() -> Vec<u8> + '_ {
        move || self.bytes(at)
    }

    fn gathered_if(&self, at: usize) -> impl FnOnce() -> Vec<u8> + '_ {
        move || self.gathered(at)
    }
}

/// Numbers below a bound, the same for the same seed.
fn random(seed: u64) -> impl FnMut(u64) -> u64 {
    // splitmix64
    let mut state = seed;
    move |end| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// Writes an image down.
pub(super) fn write_down(image: &Image, folder: &Path) {
    for (path, content) in image {
        let path = folder.join(path.trim_start_matches('/'));
        match content {
            None => std::fs::create_dir_all(&path).unwrap(),
            Some(content) => {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(&path, content).unwrap();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(name: &str, arguments: &[&str], result: i64) -> [Event; 2] {
        let arguments: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
        let call = Call { name: name.to_owned(), arguments: arguments.clone(), result };
        [
            Event::Begun { process: 1, name: name.to_owned(), arguments },
            Event::Done { process: 1, call },
        ]
    }

    fn hex(text: &str) -> String {
        let bytes: String = text.bytes().map(|byte| format!("\\x{byte:02x}")).collect();
        format!("\"{bytes}\"")
    }

    /// A disk on which `/a` was made with two blocks of `x`, and not synced.
    fn with_a_new_file(dir: &Path) -> Disk {
        let mut disk = Disk::of(dir);
        let path = hex(&format!("{}/a", dir.display()));
        let content = hex(&"x".repeat(2 * BLOCK));
        let calls = [
            done("openat", &["AT_FDCWD", &path, "O_WRONLY|O_CREAT|O_TRUNC", "0666"], 3),
            done("write", &["3", &content, "8192"], 8192),
        ];
        calls.iter().flatten().for_each(|event| disk.take(event));
        disk
    }

    fn play(disk: &mut Disk, calls: &[[Event; 2]]) {
        calls.iter().flatten().for_each(|event| disk.take(event));
    }

    #[test]
    fn what_is_not_synced_may_be_lost_in_blocks_and_names() {
        let dir = tempfile::tempdir().unwrap();
        let mut disk = with_a_new_file(dir.path());
        let all = disk.image(Survives::All);
        assert_eq!(all["/a"].as_deref(), Some("x".repeat(2 * BLOCK).as_bytes()));
        assert!(disk.image(Survives::Nothing).is_empty());
        assert_eq!(disk.image(Survives::Names)["/a"].as_deref(), Some(&b""[..]));
        // Its content is synced, and its name is not.
        play(&mut disk, &[done("fsync", &["3"], 0)]);
        assert!(disk.image(Survives::Nothing).is_empty());
        let root = hex(&dir.path().display().to_string());
        let sync = [
            done("openat", &["AT_FDCWD", &root, "O_RDONLY|O_CLOEXEC"], 4),
            done("fsync", &["4"], 0),
        ];
        play(&mut disk, &sync);
        assert_eq!(disk.image(Survives::Nothing), all);
        // A block of it, written over.
        play(&mut disk, &[done("pwrite64", &["3", &hex("y"), "1", "4096"], 1)]);
        let images: BTreeSet<u8> = (0..20)
            .map(|seed| disk.image(Survives::Parts(seed))["/a"].as_ref().unwrap()[BLOCK])
            .collect();
        assert_eq!(images, BTreeSet::from([b'x', b'y']));
    }

    #[test]
    fn a_rename_over_a_file_leaves_the_one_or_the_other() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("b"), "old").unwrap();
        let mut disk = with_a_new_file(dir.path());
        let path = |name: &str| hex(&format!("{}/{name}", dir.path().display()));
        play(&mut disk, &[done("fsync", &["3"], 0), done("rename", &[&path("a"), &path("b")], 0)]);
        let mut seen = BTreeSet::new();
        for seed in 0..40 {
            let image = disk.image(Survives::Parts(seed));
            let names: Vec<&str> = image.keys().map(String::as_str).collect();
            let b = image["/b"].as_ref().unwrap().len();
            seen.insert((names.join(" "), b));
        }
        let expected = [("/a /b", 3), ("/b", 3), ("/b", 2 * BLOCK)];
        assert_eq!(seen, BTreeSet::from(expected.map(|(names, b)| (names.to_owned(), b))));
    }

    #[test]
    fn names_that_are_exchanged_are_both_there_at_every_moment() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("in")).unwrap();
        std::fs::write(dir.path().join("in/a"), "new").unwrap();
        std::fs::write(dir.path().join("a"), "old").unwrap();
        let mut disk = Disk::of(dir.path());
        let path = |name: &str| hex(&format!("{}/{name}", dir.path().display()));
        let (one, other) = (path("a"), path("in/a"));
        let exchange = ["AT_FDCWD", &one, "AT_FDCWD", &other, "RENAME_EXCHANGE"];
        play(&mut disk, &[done("renameat2", &exchange, 0)]);
        let mut seen = BTreeSet::new();
        for seed in 0..40 {
            let image = disk.image(Survives::Parts(seed));
            let content =
                |path: &str| String::from_utf8(image[path].as_ref().unwrap().to_vec()).unwrap();
            seen.insert((content("/a"), content("/in/a")));
        }
        let expected = [("new", "old"), ("old", "new")];
        assert_eq!(seen, BTreeSet::from(expected.map(|(a, b)| (a.to_owned(), b.to_owned()))));
    }
}
