//! `--open`: the page in the browser, without its token on a command line that all users can read.

use std::ffi::OsStr;
use std::io::Write as _;
use std::process::{Command, Stdio};

use anyhow::Context as _;
use maud::{DOCTYPE, html};
use tempfile::{NamedTempFile, TempPath};

/// A file that its owner alone can read and that leads a browser on to the page; it goes with this.
pub(super) struct Redirect {
    path: TempPath,
}

impl Redirect {
    /// Writes the file and has the desktop open it.
    pub(super) fn open(address: &str) -> anyhow::Result<Self> {
        let redirect = Self::write(address).context("open the address by hand")?;
        open(redirect.path.as_os_str())?;
        Ok(redirect)
    }

    fn write(address: &str) -> std::io::Result<Self> {
        let page = html! {
            (DOCTYPE)
            meta charset="utf-8";
            meta name="referrer" content="no-referrer";
            meta http-equiv="refresh" content={ "0; url=" (address) };
            a href=(address) { "fnstore review" }
        };
        let mut builder = tempfile::Builder::new();
        let mut file: NamedTempFile =
            builder.prefix("fnstore-review-").suffix(".html").tempfile()?;
        file.write_all(page.into_string().as_bytes())?;
        Ok(Self { path: file.into_temp_path() })
    }
}

/// Opens a file as the desktop does.
fn open(file: &OsStr) -> anyhow::Result<()> {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(opener);
    command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
        .spawn()
        .with_context(|| format!("open the address by hand: `{opener}` does not run"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_leads_to_the_address_is_its_owners_alone_and_goes_again() {
        let address = "http://127.0.0.1:4711/0123/";
        let redirect = Redirect::write(address).unwrap();
        let path = redirect.path.to_path_buf();
        let page = std::fs::read_to_string(&path).unwrap();
        assert!(page.contains(&format!("content=\"0; url={address}\"")), "{page}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        drop(redirect);
        assert!(!path.exists());
    }
}
