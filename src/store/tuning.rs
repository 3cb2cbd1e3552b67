//! How RocksDB keeps each family: buffers, blocks, compression, filters.
//!
//! Nothing here is part of the format. A table file says itself how it was written, so a store is
//! read whatever these options were. It takes them up file by file as it is written and compacted.
//!
//! A query is often a process of its own, so opening must cost little. There are no threads for
//! opening files (RocksDB starts up to sixteen for every family and every change of the file list)
//! and no statistics. Indexes and filters are cut into blocks that are read on demand.

use rocksdb::{
    BlockBasedIndexType, BlockBasedOptions, Cache, ColumnFamily, ColumnFamilyDescriptor, DB,
    DBCompactionStyle, DBCompressionType, DBRecoveryMode, LogLevel, Options,
};

use super::family::Family;

/// Bytes of blocks that a reader keeps unpacked: a whole frame's sets and their sentences fit many
/// times over.
pub(super) const READERS_BLOCKS: usize = 24 << 20;

/// As [`READERS_BLOCKS`], of whoever holds the writer's lock: a load asks of each sentence whether
/// it is new, which takes the filters of all of them.
pub(super) const WRITERS_BLOCKS: usize = 64 << 20;

/// Bytes of the log from which on rows are written to files: a reader that opens the store beside
/// its writer reads the whole log.
const LOG: u64 = 32 << 20;

/// Bytes of the list of files from which on it is written anew. A reader reads the whole list, and
/// a load of twenty million sets notes four thousand files in it, of which thirty are left.
const MANIFEST: usize = 64 << 10;

/// Bytes of a part of an index. Answers want sentences from all over the store: the parts are few
/// enough that most of them serve several answers, and small enough that one answer may read one.
const PARTITION: usize = 32 << 10;

/// Files that whoever holds the writer's lock keeps open: nobody deletes what it may want again.
const WRITERS_FILES: i32 = 96;

/// Bytes of a file that are read ahead while it is packed with others: those of a load of twenty
/// million sets are some three hundred a family, and two families are packed at a time.
const READAHEAD: usize = 64 << 10;

/// Bytes from which on a table file is parted: a store of ten gigabytes has some forty.
const TABLE: u64 = 256 << 20;

/// Runs of a family from which on RocksDB merges them: those of like size, or else the newest.
const RUNS: i32 = 4;

/// Small files that a family may have beside those that are parted by their size.
const SMALL_FILES: u64 = 8;

/// Whether a family has more files than readers should keep open for it.
pub(super) fn is_scattered(sizes: &[u64]) -> bool {
    sizes.len() as u64 > SMALL_FILES + 2 * (sizes.iter().sum::<u64>() / TABLE)
}

/// Options of the database as a whole, for who holds the writer's lock.
pub(super) fn writers_options() -> Options {
    let mut options = database_options();
    options.set_max_open_files(WRITERS_FILES);
    // Three threads that pack files and one that writes them: packing is most of a bulk load.
    options.set_max_background_jobs(4);
    options
}

/// Options of the database as a whole, for a reader beside a writer.
pub(super) fn readers_options() -> Options {
    let mut options = database_options();
    // The writer may delete a file, which can be read on as long as it is open.
    options.set_max_open_files(-1);
    // It neither packs nor writes files: of each kind of thread one is started, and none is used.
    options.set_max_background_jobs(2);
    options
}

fn database_options() -> Options {
    let mut options = Options::default();
    options.set_max_file_opening_threads(1);
    options.set_skip_stats_update_on_db_open(true);
    options.set_stats_dump_period_sec(0);
    options.set_max_total_wal_size(LOG);
    options.set_max_manifest_file_size(MANIFEST);
    // A record that a crash cut short was never acknowledged: what stands before it is all there
    // is. Damage ends the log there, too, which `acknowledged` finds.
    options.set_wal_recovery_mode(DBRecoveryMode::PointInTime);
    options.set_keep_log_file_num(2);
    options.set_log_level(LogLevel::Warn);
    // A load leaves hundreds of files that are packed together, each with what is read ahead.
    options.set_compaction_readahead_size(READAHEAD);
    options
}

/// The families of those names, each with its options; a name that this build does not know gets
/// the plain ones. Together they keep so many bytes of blocks.
pub(super) fn descriptors(names: Vec<String>, blocks: usize) -> Vec<ColumnFamilyDescriptor> {
    let cache = Cache::new_lru_cache(blocks);
    // RocksDB makes a cache for all options that it is asked for anew, and none for their copies.
    let plain = Options::default();
    let descriptor = |name: String| {
        let family = Family::ALL.into_iter().find(|family| family.name() == name);
        ColumnFamilyDescriptor::new(name, family_options(family, plain.clone(), &cache))
    };
    names.into_iter().map(descriptor).collect()
}

fn family_options(family: Option<Family>, mut options: Options, cache: &Cache) -> Options {
    let mut blocks = BlockBasedOptions::default();
    blocks.set_block_cache(cache);
    blocks.set_bloom_filter(10.0, false);
    blocks.set_block_size(block(family));
    blocks.set_index_type(BlockBasedIndexType::TwoLevelIndexSearch);
    blocks.set_partition_filters(true);
    blocks.set_metadata_block_size(PARTITION);
    blocks.set_cache_index_and_filter_blocks(true);
    blocks.set_pin_top_level_index_and_filter(true);
    options.set_block_based_table_factory(&blocks);
    options.set_compression_type(DBCompressionType::Lz4);
    options.set_bottommost_compression_type(DBCompressionType::Zstd);
    options.set_write_buffer_size(write_buffer(family));
    // By levels, RocksDB never merges small files whose keys lie beside each other. A commit of one
    // row would leave its file for good, and a reader keeps all of them open.
    options.set_compaction_style(DBCompactionStyle::Universal);
    options.set_level_zero_file_num_compaction_trigger(RUNS);
    options.set_target_file_size_base(TABLE);
    if let Some(bytes) = dictionary(family) {
        options.set_bottommost_compression_options(WINDOW, LEVEL, 0, bytes, true);
        options.set_bottommost_zstd_max_train_bytes(SAMPLES * bytes, true);
    }
    // Most lookups are of rows that are there; the others are told by the levels above the last. Of
    // each generated sentence a commit asks whether it is new, to count it; of each LU and seed
    // that are new, whether they have evidence.
    let is_often_missed = matches!(family, Some(Family::Sentence | Family::Evidence));
    options.set_optimize_filters_for_hits(!is_often_missed);
    options
}

/// Bytes of a block before it is packed, the least that is read.
///
/// A frame's sets lie together and share their seeds and chains. Sentences lie in order of id,
/// which for generated ones is a hash, so an answer wants one sentence of a block. Hence small
/// blocks, with a dictionary for what they share.
fn block(family: Option<Family>) -> usize {
    match family {
        Some(Family::Annotation) => 64 << 10,
        Some(Family::Sentence) => 4 << 10,
        _ => 16 << 10,
    }
}

/// RocksDB's own window of zstd, and the level that zstd itself takes by default.
const WINDOW: i32 = -14;
const LEVEL: i32 = 3;
/// A dictionary is trained on so many times its own size.
const SAMPLES: i32 = 32;

/// Bytes of blocks that wait, unpacked, for the dictionary of their file. RocksDB would have all
/// blocks of the file wait.
const WAITING: u64 = 16 << 20;

/// Has little wait for the dictionaries of files that are written from now on. RocksDB's interface
/// to C has no such option for a database that is not open yet.
pub(super) fn bound_waiting(db: &DB, family: &ColumnFamily) -> Result<(), rocksdb::Error> {
    let value = format!("{{max_dict_buffer_bytes={WAITING};}}");
    db.set_options_cf(&family, &[("bottommost_compression_opts", &value)])
}

/// Bytes of the dictionary that the blocks of a file are packed with.
fn dictionary(family: Option<Family>) -> Option<i32> {
    match family {
        Some(Family::Sentence) => Some(64 << 10),
        _ => None,
    }
}

/// Bytes gathered in memory before a flush. Sentences, sets and their layers make up nearly all of
/// a release, and evidence is written again and again as sets come; the rest are small, and sixteen
/// large buffers would not be a bounded import.
fn write_buffer(family: Option<Family>) -> usize {
    match family {
        Some(Family::Sentence | Family::Annotation | Family::SentenceLayers | Family::Evidence) => {
            16 << 20
        }
        _ => 4 << 20,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_files_that_grows_long_is_written_anew() {
        let dir = tempfile::tempdir().unwrap();
        let mut options = writers_options();
        options.create_if_missing(true);
        options.set_max_manifest_file_size(4 << 10);
        let db = DB::open(&options, dir.path()).unwrap();
        let list = || std::fs::read_to_string(dir.path().join("CURRENT")).unwrap();
        let first = list();
        for row in 0..200_u8 {
            db.put([row], [row]).unwrap();
            db.flush().unwrap();
        }
        assert_ne!(list(), first);
        drop(db);
        let said = options_of(dir.path());
        assert!(said.contains("max_manifest_file_size=4096"), "{said}");
        drop(DB::open(&writers_options(), dir.path()).unwrap());
        let said = options_of(dir.path());
        assert!(said.contains(&format!("max_manifest_file_size={MANIFEST}")), "{said}");
    }

    /// What RocksDB writes down of what it was told last.
    fn options_of(dir: &std::path::Path) -> String {
        let files = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        let is_options = |path: &std::path::PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("OPTIONS"))
        };
        std::fs::read_to_string(files.filter(is_options).max().unwrap()).unwrap()
    }

    #[test]
    fn little_waits_for_a_dictionary_and_the_dictionary_stays() {
        let dir = tempfile::tempdir().unwrap();
        let mut options = writers_options();
        options.create_if_missing(true);
        options.create_missing_column_families(true);
        let name = Family::Sentence.name();
        let families = descriptors(vec!["default".to_owned(), name.to_owned()], WRITERS_BLOCKS);
        let db = DB::open_cf_descriptors(&options, dir.path(), families).unwrap();
        bound_waiting(&db, db.cf_handle(name).unwrap()).unwrap();
        let text = options_of(dir.path());
        let of_family = text.split("[CFOptions \"").find(|part| part.starts_with(name)).unwrap();
        let line = |text: &str| {
            let line =
                text.lines().find(|line| line.trim().starts_with("bottommost_compression_opts"));
            line.unwrap().to_owned()
        };
        let line = line(of_family);
        for option in [
            format!("max_dict_buffer_bytes={WAITING};"),
            format!("max_dict_bytes={};", dictionary(Some(Family::Sentence)).unwrap()),
            "enabled=true;".to_owned(),
        ] {
            assert!(line.contains(&option), "{option} in {line}");
        }
    }
}
