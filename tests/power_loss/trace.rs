//! What a process did to the files under a directory: its system calls, as `strace` writes them
//! down with every byte that was written.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

/// Calls that are traced. `mmap` and `io_uring_setup` are watched, so that nothing is written past
/// the trace without a word.
const CALLS: &str = "open,openat,openat2,creat,close,dup,dup2,dup3,fcntl,read,pread64,lseek,write,pwrite64,\
writev,pwritev,pwritev2,ftruncate,truncate,fallocate,rename,renameat,renameat2,unlink,unlinkat,rmdir,\
mkdir,mkdirat,link,linkat,symlink,symlinkat,fsync,fdatasync,sync_file_range,msync,mmap,copy_file_range,\
sendfile,splice,io_uring_setup";

/// Bytes of a written buffer that are written down; a longer one is an error.
const BUFFER: usize = 32 << 20;

/// A system call that was made: its name, its arguments as text, and what it returned.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) arguments: Vec<String>,
    pub(super) result: i64,
}

/// What happened, in order.
#[derive(Debug)]
pub(super) enum Event {
    /// A call has begun. Only what is closed or synced counts from here: another file may get the
    /// number of the one, and what is written from now on need not be on the disk after the other.
    Begun { process: u32, name: String, arguments: Vec<String> },
    /// A call has returned.
    Done { process: u32, call: Call },
}

/// Runs a command under `strace`; `None` where that is not to be had, which it says.
pub(super) fn record(command: &Command, log: &Path) -> Option<Vec<Event>> {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-xx", "-e", "signal=none", "-s", &BUFFER.to_string()]);
    strace.args(["-e", &format!("trace={CALLS}")]).arg("-o").arg(log);
    strace.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        strace.env(name, value.expect("set, not removed"));
    }
    let output = match strace.output() {
        Ok(output) => output,
        Err(error) => {
            skipped!("`strace` does not run: {error}");
            return None;
        }
    };
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && said.contains("PTRACE") {
        skipped!("`strace` may not trace here: {said}");
        return None;
    }
    assert!(output.status.success(), "{}{said}", String::from_utf8_lossy(&output.stdout));
    Some(events(&std::fs::read_to_string(log).unwrap()))
}

/// The events of a log.
fn events(log: &str) -> Vec<Event> {
    let mut events = Vec::new();
    let mut unfinished: HashMap<u32, String> = HashMap::new();
    for line in log.lines() {
        let (process, rest) = line.split_once(' ').expect("a process and a call");
        let process: u32 = process.parse().expect("the number of a process");
        let rest = rest.trim_start();
        if rest.starts_with("+++") || rest.starts_with("---") {
            continue;
        }
        if let Some(begun) = rest.strip_suffix("<unfinished ...>") {
            let (name, arguments) = split_call(begun.trim_end());
            events.push(Event::Begun { process, name, arguments });
            unfinished.insert(process, begun.trim_end().to_owned());
            continue;
        }
        let whole = match rest.strip_prefix("<... ").and_then(|rest| rest.split_once(" resumed>")) {
            Some((_, end)) => format!("{}{end}", unfinished.remove(&process).expect("it began")),
            None => {
                let (name, arguments) = split_call(rest);
                events.push(Event::Begun { process, name, arguments });
                rest.to_owned()
            }
        };
        if let Some(call) = finished(&whole) {
            events.push(Event::Done { process, call });
        }
    }
    events
}

/// A call that returned; `None` for one that never did, as of a process that ended.
fn finished(text: &str) -> Option<Call> {
    let (call, result) = text.rsplit_once(" = ")?;
    let (name, arguments) = split_call(call.trim_end());
    let result = result.split([' ', '<']).next()?;
    let result = match result.strip_prefix("0x") {
        Some(address) => i64::try_from(u64::from_str_radix(address, 16).ok()?).ok()?,
        None => result.parse().ok()?,
    };
    Some(Call { name, arguments, result })
}

/// Name and arguments; commas inside of strings, brackets and braces part nothing.
fn split_call(text: &str) -> (String, Vec<String>) {
    let (name, rest) = text.split_once('(').unwrap_or((text, ""));
    let mut arguments = vec![String::new()];
    let (mut depth, mut in_string) = (0, false);
    for letter in rest.chars() {
        match letter {
            '"' => in_string = !in_string,
            '[' | '{' | '(' if !in_string => depth += 1,
            ')' if !in_string && depth == 0 => break,
            ']' | '}' | ')' if !in_string => depth -= 1,
            ',' if !in_string && depth == 0 => {
                arguments.push(String::new());
                continue;
            }
            _ => {}
        }
        arguments.last_mut().expect("one at least").push(letter);
    }
    (name.to_owned(), arguments.iter().map(|argument| argument.trim().to_owned()).collect())
}

impl Call {
    pub(super) fn number(&self, at: usize) -> i64 {
        number(&self.arguments[at])
    }

    /// The bytes of a string.
    pub(super) fn bytes(&self, at: usize) -> Vec<u8> {
        bytes(&self.arguments[at])
    }

    /// The bytes of all parts of a vector of buffers.
    pub(super) fn gathered(&self, at: usize) -> Vec<u8> {
        let parts = self.arguments[at].split("iov_base=").skip(1);
        parts.flat_map(|part| bytes(&part[..part[1..].find('"').expect("it ends") + 2])).collect()
    }

    pub(super) fn path(&self, at: usize) -> String {
        String::from_utf8(self.bytes(at)).expect("a path in UTF-8")
    }

    pub(super) fn has(&self, at: usize, flag: &str) -> bool {
        self.arguments.get(at).is_some_and(|flags| flags.split('|').any(|part| part == flag))
    }
}

/// A number of an argument; `AT_FDCWD` is none that a file has.
pub(super) fn number(argument: &str) -> i64 {
    argument.parse().unwrap_or(-1)
}

fn bytes(text: &str) -> Vec<u8> {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let inner =
        inner.unwrap_or_else(|| panic!("not a whole string: {}", &text[..text.len().min(80)]));
    let hex = |pair: &str| u8::from_str_radix(pair, 16).expect("two digits");
    inner.split("\\x").skip(1).map(hex).collect()
}

#[test]
fn calls_that_were_interrupted_by_others_are_put_together() {
    let log = r#"7 openat(AT_FDCWD, "\x2f\x61", O_RDWR|O_CREAT, 0644) = 3
7 write(3, "\x28\x2c\x22" <unfinished ...>
8 close(3) = 0
7 <... write resumed>, 3) = 3
8 writev(4, [{iov_base="\x61", iov_len=1}, {iov_base="\x62\x63", iov_len=2}], 2) = 3
8 mmap(NULL, 8192, PROT_READ, MAP_SHARED, 5, 0) = 0x7f0000000000
8 unlink("\x62") = -1 ENOENT (No such file or directory)
8 +++ exited with 0 +++
"#;
    let mut done = Vec::new();
    for event in events(log) {
        if let Event::Done { call, .. } = event {
            done.push(call);
        }
    }
    let names: Vec<&str> = done.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["openat", "close", "write", "writev", "mmap", "unlink"]);
    assert_eq!(
        (done[0].path(1).as_str(), done[0].has(2, "O_CREAT"), done[0].result),
        ("/a", true, 3)
    );
    assert_eq!((done[2].bytes(1), done[2].number(0)), (b"(,\"".to_vec(), 3));
    assert_eq!(done[3].gathered(1), b"abc");
    assert_eq!(done[5].result, -1);
}
