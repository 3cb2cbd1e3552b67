/* fnstore: an embedded FrameNet database that can grow. The C interface.
 *
 * Written by cbindgen from c/src/. docs/reference/c.md says how to build, link and use it. */

#ifndef FNSTORE_H
#define FNSTORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/* Whether the library that is linked is the one that this header describes: `fnstore_abi_is_right()`. */
#define fnstore_abi_is_right() (fnstore_abi_version() == FNSTORE_ABI_VERSION)

/*
 Version of this interface. It grows when a function, a struct or a constant changes in a way
 that compiled programs do not survive; what is added leaves it.
 */
#define FNSTORE_ABI_VERSION 1

/*
 What a store is opened for.
 */
typedef enum {
  /*
   To read, beside a writer or alone. What is written by such a handle, as by `fnstore_edit`,
   takes the writer's lock for that long, or as `fnstore_keep_writer` says.
   */
  FNSTORE_OPEN_MODE_READ = 0,
  /*
   To write a store that is there; the lock is held until it is closed.
   */
  FNSTORE_OPEN_MODE_WRITE = 1,
  /*
   As `FNSTORE_OPEN_MODE_WRITE`, and a store is made where nothing is.
   */
  FNSTORE_OPEN_MODE_CREATE = 2,
} fnstore_open_mode;

/*
 What kind of error it is, whatever failed.
 */
typedef enum {
  /*
   There is no error.
   */
  FNSTORE_KIND_NONE = 0,
  /*
   Every other error.
   */
  FNSTORE_KIND_FAILED = 1,
  /*
   The data that was given is not what it should be.
   */
  FNSTORE_KIND_BAD_INPUT = 2,
  /*
   Another process, or another call, writes the same thing; the same call may succeed later.
   */
  FNSTORE_KIND_LOCKED = 3,
  /*
   The store is not the one that was followed, and has to be read anew.
   */
  FNSTORE_KIND_REPLACED = 4,
  /*
   A disk is full, or a limit of the system is reached.
   */
  FNSTORE_KIND_FULL = 5,
  /*
   There is no store at the place.
   */
  FNSTORE_KIND_NO_STORE = 6,
  /*
   A model that is needed is not at hand.
   */
  FNSTORE_KIND_NO_MODEL = 7,
  /*
   The function was called wrongly: a null pointer, a text that is not UTF-8.
   */
  FNSTORE_KIND_USAGE = 8,
} fnstore_kind;

/*
 What a lexicon lists.
 */
typedef enum {
  /*
   Frames, each with its FEs.
   */
  FNSTORE_LEXICON_KIND_FRAMES = 0,
  /*
   LUs.
   */
  FNSTORE_LEXICON_KIND_LUS = 1,
  /*
   Relations between frames, each with those of its FEs.
   */
  FNSTORE_LEXICON_KIND_RELATIONS = 2,
  /*
   Semantic types.
   */
  FNSTORE_LEXICON_KIND_SEM_TYPES = 3,
  /*
   Documents.
   */
  FNSTORE_LEXICON_KIND_DOCUMENTS = 4,
} fnstore_lexicon_kind;

/*
 What a callback answers.
 */
typedef enum {
  /*
   The run goes on.
   */
  FNSTORE_STOP_GO_ON = 0,
  /*
   It ends when the rounds under way are finished and written.
   */
  FNSTORE_STOP_AFTER_ROUND = 1,
  /*
   It ends at once; the rounds under way are dropped.
   */
  FNSTORE_STOP_NOW = 2,
} fnstore_stop;

/*
 What is decided on a proposal.
 */
typedef enum {
  /*
   It becomes an LU of its frame, with its sentences.
   */
  FNSTORE_VERDICT_ACCEPT = 0,
  /*
   It is not listed again.
   */
  FNSTORE_VERDICT_REJECT = 1,
} fnstore_verdict;

/*
 A score of an annotation set, from 0 to 1 but for the rewriter's.
 */
typedef enum {
  /*
   The rewriter's, of a generated set.
   */
  FNSTORE_SCORE_PARAPHRASE = 0,
  /*
   The aligner's, of a generated set.
   */
  FNSTORE_SCORE_ALIGNER = 1,
  /*
   The precision filter's, of a generated set.
   */
  FNSTORE_SCORE_PRECISION = 2,
  /*
   The recall filter's, of a generated set.
   */
  FNSTORE_SCORE_RECALL = 3,
  /*
   Probability of the frame, where a frame model was asked.
   */
  FNSTORE_SCORE_FRAME_FIT = 4,
  /*
   Probability that the target evokes the frame, where a verifier was asked.
   */
  FNSTORE_SCORE_EVOKES = 5,
  /*
   Probability that it says what its source says, where a verifier was asked.
   */
  FNSTORE_SCORE_SAME_MEANING = 6,
} fnstore_score;

/*
 An annotation set with its sentence and names. It depends on nothing: it may outlive the list of
 answers and the database, and any thread may read it. Its texts live as long as it does.
 */
typedef struct fnstore_answer fnstore_answer;

/*
 Answers of a query. They keep the store open by themselves. Every thread may ask for the next
 one; those that ask at once wait for each other.
 */
typedef struct fnstore_answers fnstore_answers;

/*
 What a commit did to a record. It depends on nothing: it may outlive the feed and the database,
 and any thread may read it. Its texts live as long as it does.
 */
typedef struct fnstore_change fnstore_change;

/*
 A store. Every thread may use it, also at once.
 */
typedef struct fnstore_database fnstore_database;

/*
 What went wrong. Of a function that takes `fnstore_error **error`: it sets `*error` to null, and
 when it fails to an error, which the caller frees. So `*error` must hold no unfreed error when
 it is called: nobody could free it any more. A null `error` is allowed; then nobody learns why
 it failed.
 */
typedef struct fnstore_error fnstore_error;

/*
 A recipe with its models open, for any number of runs. One run at a time: a second one is
 refused with `F-busy`.
 */
typedef struct fnstore_expander fnstore_expander;

/*
 The changes of a store, in order. Every thread may ask for the next one; those that ask at once
 wait for each other.
 */
typedef struct fnstore_feed fnstore_feed;

/*
 Records as JSON, in memory. It depends on nothing: it may outlive the database.
 */
typedef struct fnstore_lines fnstore_lines;

/*
 Told how many of how many files are read, on the thread of the import. Another answer than 0
 ends the import, with the error `E-stopped`; nothing is in the store then. It may read the
 database, not write it: that is refused with `F-busy`. It must not unwind: a panic or an
 exception that leaves it ends the program.
 */
typedef int32_t (*fnstore_import_callback)(uint64_t files, uint64_t total, void *data);

/*
 A part of a text, its end excluded.
 */
typedef struct {
  /*
   Where it begins.
   */
  uint32_t start;
  /*
   Behind its last unit.
   */
  uint32_t end;
} fnstore_span;

/*
 An FE label of an annotation set. Its texts live as long as the answer.
 */
typedef struct {
  /*
   Name of the FE.
   */
  const char *name;
  /*
   Grammatical function; null where there is none.
   */
  const char *gf;
  /*
   Phrase type; null where there is none.
   */
  const char *pt;
  /*
   Why no words express it: `INI` (left open), `DNI` (known from context), `CNI` (left out by a
   construction), `INC` (the target expresses it), or what an import says; null where words do.
   */
  const char *ni;
  /*
   Where it stands, in bytes of UTF-8; 0 to 0 where no words express it.
   */
  fnstore_span bytes;
  /*
   The same in code points.
   */
  fnstore_span code_points;
  /*
   Rank of its layer, from 1.
   */
  uint32_t rank;
} fnstore_element;

/*
 How far an expansion is. Its texts live as long as the callback.
 */
typedef struct {
  /*
   `finding seeds` or `rewriting`.
   */
  const char *phase;
  /*
   The set of the last step that ended; null before the first one.
   */
  const char *seed;
  /*
   The last sentence that was made; null where this step made none, and where it holds NUL.
   */
  const char *text;
  /*
   Sets that are finished.
   */
  uint64_t seeds;
  /*
   Sets that match.
   */
  uint64_t total;
  /*
   Sentences written in this run.
   */
  uint64_t sentences;
  /*
   Rounds that this run has behind it.
   */
  uint64_t rounds;
  /*
   Rounds that were missing when it began.
   */
  uint64_t total_rounds;
} fnstore_progress;

/*
 Told how far an expansion is, about ten times a second, on the thread that runs it. It
 answers a `fnstore_stop`. It may read the database, not write it: that is refused with `F-busy`,
 and so is a run of the same expander. It must not free what the run uses. It must not unwind: a
 panic or an exception that leaves it ends the program.
 */
typedef int32_t (*fnstore_expand_callback)(const fnstore_progress *progress, void *data);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Version of the interface of the library that is linked.
 */
uint32_t fnstore_abi_version(void);

/*
 Version of the library, as in `0.1.0`. Nobody frees it.
 */
const char *fnstore_version(void);

/*
 The kind of an error: a `fnstore_kind`. Of null it is `FNSTORE_KIND_NONE`.
 */
uint32_t fnstore_error_kind(const fnstore_error *error);

/*
 The code of an error, as in `S-locked`; null where the message says all. It lives as long as the
 error.
 */
const char *fnstore_error_code(const fnstore_error *error);

/*
 What went wrong, in words. It lives as long as the error.
 */
const char *fnstore_error_message(const fnstore_error *error);

/*
 The error as JSON, in the form of `fnstore --errors json` (`schema/error.schema.json`). It lives
 as long as the error.
 */
const char *fnstore_error_json(const fnstore_error *error);

/*
 Frees an error; null is nothing.
 */
void fnstore_error_free(fnstore_error *error);

/*
 Frees a text that a function gave as `char *`; null is nothing.
 */
void fnstore_text_free(char *text);

/*
 Opens the store of a directory; `mode` is a `fnstore_open_mode`. Gives null when it fails. The
 caller closes it by `fnstore_close`.
 */
fnstore_database *fnstore_open(const char *path, uint32_t mode, fnstore_error **error);

/*
 How long the writer stays open behind each edit, undo or decision by a handle that was opened to
 read, in milliseconds. The next one within that time costs a commit alone, and others get
 `S-locked` meanwhile. 0, as it is at first, closes it at once.
 */
void fnstore_keep_writer(const fnstore_database *database, uint64_t milliseconds);

/*
 Closes a store and frees its handle; null is nothing. Lists of answers and feeds that are still
 open keep what they read from: a writer's lock goes with the last of its lists of answers.
 */
void fnstore_close(fnstore_database *database);

/*
 Number of the last commit, to `revision`.
 */
bool fnstore_revision(const fnstore_database *database, uint64_t *revision, fnstore_error **error);

/*
 The generation of the store, which a restore changes: revisions can be compared within one
 alone. The caller frees it. Gives null when it fails, and of a store that no writer has opened
 since stores have generations.
 */
char *fnstore_generation(const fnstore_database *database, fnstore_error **error);

/*
 Imports a FrameNet release from a zip file or a directory, all of it or nothing. `release` names
 it, `language` is its language (as in `en`); null takes what the files say. `author` says who
 imports, and `callback` is told how far it is; both may be null. The number of the commit goes
 to `revision`, which may be null. Gives a report as JSON, which the caller frees: `release`,
 `counts`, `warnings`. Null when it fails. While it runs, another write by this handle is refused
 with `F-busy`.
 */
char *fnstore_import(fnstore_database *database,
                     const char *path,
                     const char *release,
                     const char *language,
                     const char *author,
                     fnstore_import_callback callback,
                     void *data,
                     uint64_t *revision,
                     fnstore_error **error);

/*
 The annotation sets for which a query holds, in the language of `schema/query.md`. `sort` lists
 fields, as in `lu,-text`; null is the order of the store. `after` is a cursor: the page behind
 it. `limit` is the most answers; 0 gives all. Null when it fails. The caller frees the list by
 `fnstore_answers_free`.
 */
fnstore_answers *fnstore_query(const fnstore_database *database,
                               const char *query,
                               const char *sort,
                               const char *after,
                               uint64_t limit,
                               fnstore_error **error);

/*
 Number of annotation sets for which a query holds, to `count`.
 */
bool fnstore_count(const fnstore_database *database,
                   const char *query,
                   uint64_t *count,
                   fnstore_error **error);

/*
 The next answer, which the caller frees by `fnstore_answer_free`. Null behind the last one, and
 when it fails: then `*error` is not null. An answer with NUL in a text is the error `F-nul`; the
 call after it goes on behind that answer.
 */
fnstore_answer *fnstore_answers_next(fnstore_answers *answers, fnstore_error **error);

/*
 The cursor behind an answer of a list: where the next page begins. The caller frees it. It is
 good for the same query in the same order, also in another process and after edits.
 */
char *fnstore_answers_cursor(const fnstore_answers *answers,
                             const fnstore_answer *answer,
                             fnstore_error **error);

/*
 Frees a list of answers; those that it gave stay. Null is nothing.
 */
void fnstore_answers_free(fnstore_answers *answers);

/*
 The one annotation set of an id, as in `x1024`. `release` is needed where several have one of
 that id; null otherwise. The caller frees it by `fnstore_answer_free`. Null when it fails.
 */
fnstore_answer *fnstore_annotation_set(const fnstore_database *database,
                                       const char *release,
                                       const char *id,
                                       fnstore_error **error);

/*
 Name of the release.
 */
const char *fnstore_answer_release(const fnstore_answer *answer);

/*
 Id of the set, as in `x1024`.
 */
const char *fnstore_answer_id(const fnstore_answer *answer);

/*
 Name of the frame.
 */
const char *fnstore_answer_frame(const fnstore_answer *answer);

/*
 Number of the frame.
 */
uint32_t fnstore_answer_frame_id(const fnstore_answer *answer);

/*
 Name of the LU.
 */
const char *fnstore_answer_lu(const fnstore_answer *answer);

/*
 Number of the LU.
 */
uint32_t fnstore_answer_lu_id(const fnstore_answer *answer);

/*
 The target's text, pieces joined by a space.
 */
const char *fnstore_answer_trigger(const fnstore_answer *answer);

/*
 Id of the sentence.
 */
const char *fnstore_answer_sentence(const fnstore_answer *answer);

/*
 Text of the sentence.
 */
const char *fnstore_answer_text(const fnstore_answer *answer);

/*
 Where the set comes from: `exemplar`, `fulltext`, `imported`, `user`, `generated`, `predicted`,
 `carried`.
 */
const char *fnstore_answer_origin(const fnstore_answer *answer);

/*
 Status of the set.
 */
const char *fnstore_answer_status(const fnstore_answer *answer);

/*
 Name of the document; null where there is none.
 */
const char *fnstore_answer_document(const fnstore_answer *answer);

/*
 The human set that a generated set grew from; null of another.
 */
const char *fnstore_answer_seed(const fnstore_answer *answer);

/*
 The round of a generated set; 0 of another.
 */
uint32_t fnstore_answer_round(const fnstore_answer *answer);

/*
 A score of the set: `score` is a `fnstore_score`. NaN where the set has none.
 */
double fnstore_answer_score(const fnstore_answer *answer, uint32_t score);

/*
 How many pieces the target has.
 */
size_t fnstore_answer_target_count(const fnstore_answer *answer);

/*
 A piece of the target by its place, from 0: where it stands, in bytes of UTF-8 and in code
 points. Either may be null. False behind the last one, and when it fails: then `*error` is not
 null.
 */
bool fnstore_answer_target(const fnstore_answer *answer,
                           size_t place,
                           fnstore_span *bytes,
                           fnstore_span *code_points,
                           fnstore_error **error);

/*
 How many FE labels the set has.
 */
size_t fnstore_answer_element_count(const fnstore_answer *answer);

/*
 An FE label by its place, from 0, to `element`. False behind the last one, and when it fails:
 then `*error` is not null.
 */
bool fnstore_answer_element(const fnstore_answer *answer,
                            size_t place,
                            fnstore_element *element,
                            fnstore_error **error);

/*
 The whole record as JSON, as `fnstore query` prints it (`schema/hit.schema.json`). It lives as
 long as the answer. Null when it fails.
 */
const char *fnstore_answer_json(const fnstore_answer *answer, fnstore_error **error);

/*
 Frees an answer; null is nothing.
 */
void fnstore_answer_free(fnstore_answer *answer);

/*
 What a release holds of a kind (a `fnstore_lexicon_kind`), as lines of JSON in the form of
 `schema/exchange.md`. `names` narrows frames, LUs and documents by name, with `*` and `?`; null
 is all of them. `release` is its name; null is the only one. All are in memory. The caller frees
 the list by `fnstore_lines_free`. Null when it fails.
 */
fnstore_lines *fnstore_lexicon(const fnstore_database *database,
                               const char *release_name,
                               uint32_t kind,
                               const char *names,
                               fnstore_error **error);

/*
 The releases of a store as lines of JSON: `id`, `name`, `language`, `source`, `imported`. The
 caller frees the list by `fnstore_lines_free`. Null when it fails.
 */
fnstore_lines *fnstore_releases(const fnstore_database *database, fnstore_error **error);

/*
 The one frame of a name, with its FEs, as a line of JSON, which the caller frees. Several are an
 error, and `release` narrows; it may be null. Null when it fails.
 */
char *fnstore_frame(const fnstore_database *database,
                    const char *release,
                    const char *name,
                    fnstore_error **error);

/*
 The one LU of a name, as in `check.v`, as a line of JSON, which the caller frees. Several are an
 error, and `release` and `frame`, a name, narrow; both may be null. Null when it fails.
 */
char *fnstore_lu(const fnstore_database *database,
                 const char *release,
                 const char *frame,
                 const char *name,
                 fnstore_error **error);

/*
 How many there are.
 */
size_t fnstore_lines_count(const fnstore_lines *lines);

/*
 The record of a place, from 0; null behind the last one. It lives as long as the list.
 */
const char *fnstore_lines_get(const fnstore_lines *lines, size_t place);

/*
 Frees a list; null is nothing.
 */
void fnstore_lines_free(fnstore_lines *lines);

/*
 Does a script of edits, one a line of JSON (`schema/edit.md`), and commits all of it or nothing.
 `script` has so many bytes of UTF-8, without NUL;
 the spans in it count code points. `release` is its name; null is the only one.
 `author` and `note` say who edits and why, and may be null. The number of the commit goes to
 `revision`, which may be null. Gives what each line did (`schema/edited.schema.json`), with the
 ids of what it added; the caller frees it by `fnstore_lines_free`. Null when it fails.
 */
fnstore_lines *fnstore_edit(fnstore_database *database,
                            const char *release,
                            const char *script,
                            size_t length,
                            const char *author,
                            const char *note,
                            uint64_t *revision,
                            fnstore_error **error);

/*
 Takes back commits, all of them or none: records become what they were before. `count` is how
 many there are in `revisions`, at least 1. The commit that does it goes to `revision`, the
 number of records to `records`; both may be null. False when it fails: what has changed since is
 named.
 */
bool fnstore_undo(fnstore_database *database,
                  const uint64_t *revisions,
                  size_t count,
                  const char *author,
                  const char *note,
                  uint64_t *revision,
                  uint64_t *records,
                  fnstore_error **error);

/*
 Who committed, when and why, the last commit first (`schema/history.schema.json`); at most so
 many, 0 gives all. The caller frees it by `fnstore_lines_free`. Null when it fails.
 */
fnstore_lines *fnstore_history(const fnstore_database *database,
                               size_t limit,
                               fnstore_error **error);

/*
 What was committed after a revision, by any process; 0 is before everything. `generation` is the
 one that was remembered with the revision, or null: a store of another one is an error of kind
 `FNSTORE_KIND_REPLACED`, and is read anew from 0. `with_records` gives each record as it is
 when it is read. Null when it fails. The caller frees the feed by `fnstore_feed_free`.

 Take the changes of a commit together; remember its revision when the last one has come.
 */
fnstore_feed *fnstore_follow(const fnstore_database *database,
                             uint64_t since,
                             const char *generation,
                             bool with_records,
                             fnstore_error **error);

/*
 Every record of a release, by its number, as changes that add it: what a follower takes where a
 release was added, which is one change. Nothing where there is no such release. Null when it
 fails. The caller frees the feed by `fnstore_feed_free`; it ends by itself.
 */
fnstore_feed *fnstore_records(const fnstore_database *database,
                              uint32_t release,
                              fnstore_error **error);

/*
 The next change, which the caller frees by `fnstore_change_free`. Waits up to so many
 milliseconds for a commit where there is none; 0 looks once. Null when time is over, and when it
 fails: then `*error` is not null. A commit of another process is noticed within some 10 ms.
 */
fnstore_change *fnstore_feed_next(fnstore_feed *feed, uint64_t milliseconds, fnstore_error **error);

/*
 Frees a feed; changes that it gave stay. Null is nothing.
 */
void fnstore_feed_free(fnstore_feed *feed);

/*
 Number of the commit.
 */
uint64_t fnstore_change_revision(const fnstore_change *change);

/*
 Whether it is the last change of its commit: then the commit is whole, and its revision is what
 a follower remembers.
 */
bool fnstore_change_is_last(const fnstore_change *change);

/*
 Number of the release.
 */
uint32_t fnstore_change_release(const fnstore_change *change);

/*
 `added`, `edited` or `removed`.
 */
const char *fnstore_change_action(const fnstore_change *change);

/*
 What it is: `release`, `semtype`, `frame`, `relation`, `lu`, `document`, `sentence`, `layers`,
 `set`, `judgement`, `verification`, `decision` or `edition`.
 */
const char *fnstore_change_kind(const fnstore_change *change);

/*
 Its id: of a judgement and a verification the set's, of a decision the LU's name.
 */
const char *fnstore_change_id(const fnstore_change *change);

/*
 What tells the record from every other one of the store: release, kind, id and what else it
 takes, parted by slashes. There is no tab and no end of a line in it.
 */
const char *fnstore_change_key(const fnstore_change *change);

/*
 The sentence of a set or of layers; null of another.
 */
const char *fnstore_change_sentence(const fnstore_change *change);

/*
 Whose judgement it is; null of another.
 */
const char *fnstore_change_reviewer(const fnstore_change *change);

/*
 The record as it is now, as a line of JSON (`schema/exchange.md`); null where it is gone, of a
 release, and in a feed without records.
 */
const char *fnstore_change_record(const fnstore_change *change);

/*
 The sentence of a set, likewise: a set of a bulk write stands for its sentence, too.
 */
const char *fnstore_change_sentence_record(const fnstore_change *change);

/*
 The change as the JSON that `fnstore changes` prints (`schema/change.schema.json`): with who
 committed it, when and why, and with the records, where these are wanted. It lives as long as
 the change.
 */
const char *fnstore_change_json(const fnstore_change *change);

/*
 Frees a change; null is nothing.
 */
void fnstore_change_free(fnstore_change *change);

/*
 Opens the models of a directory. `settings` are those of a recipe as a JSON object, as in
 `{"rounds": 1, "beam": 4}` (docs/concepts/recipes.md); null takes the defaults. `device` is
 where the networks run, as in `cpu` or `auto`; null is the CPU. Null when it fails. The caller
 frees it by `fnstore_expander_free`.
 */
fnstore_expander *fnstore_expander_open(const char *models,
                                        const char *settings,
                                        const char *device,
                                        fnstore_error **error);

/*
 Writes new annotated sentences from every human set for which a query holds; null is all sets. A
 run that was stopped is gone on with by the next one. `author` says who runs it, and `callback`
 is told how far it is; both may be null. The number of the store's last commit then goes to
 `revision`, which may be null. Gives a report as JSON (`schema/expand.schema.json`), which the
 caller frees. Null when it fails. While it runs, another write by this handle is refused with
 `F-busy`.
 */
char *fnstore_expand(fnstore_expander *expander,
                     fnstore_database *database,
                     const char *query,
                     const char *author,
                     fnstore_expand_callback callback,
                     void *data,
                     uint64_t *revision,
                     fnstore_error **error);

/*
 As `fnstore_expand`, of one set. `release` is the name of its release; null is the only one.
 */
char *fnstore_expand_set(fnstore_expander *expander,
                         fnstore_database *database,
                         const char *release,
                         const char *set,
                         const char *author,
                         fnstore_expand_callback callback,
                         void *data,
                         uint64_t *revision,
                         fnstore_error **error);

/*
 Frees an expander and closes its models; null is nothing.
 */
void fnstore_expander_free(fnstore_expander *expander);

/*
 The LUs that the generated sets of a query propose, the likeliest first, as lines of JSON
 (`schema/proposal.schema.json`). Null is all sets. `with_decided` lists those, too, on
 which somebody decided. The caller frees the list by `fnstore_lines_free`. Null when it fails.
 */
fnstore_lines *fnstore_proposals(const fnstore_database *database,
                                 const char *query,
                                 bool with_decided,
                                 fnstore_error **error);

/*
 Decides on a proposal: `frame` and `lu` are its names, `verdict` is a `fnstore_verdict`,
 `reviewer` says who decides. `release` narrows and may be null, as may `note`, which says why.
 `author` says who commits; null is the reviewer. The number of the commit, which takes the
 decision back by `fnstore_undo`, goes to `revision`, which may be null. False when it fails.
 */
bool fnstore_decide(fnstore_database *database,
                    const char *release,
                    const char *frame,
                    const char *lu,
                    uint32_t verdict,
                    const char *reviewer,
                    const char *note,
                    const char *author,
                    uint64_t *revision,
                    fnstore_error **error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FNSTORE_H */
