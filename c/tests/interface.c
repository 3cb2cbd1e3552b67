/* Every function of the interface, used rightly and wrongly; tests/program.rs runs it under the sanitizers.
 *
 *     interface RELEASE FOLDER [MODELS]
 */
#include <fnstore.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(it)                                                          \
  do {                                                                      \
    if (!(it)) {                                                            \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #it);              \
      if (error) fprintf(stderr, "%s\n", fnstore_error_json(error));        \
      exit(1);                                                              \
    }                                                                       \
  } while (0)

/* The last call failed with this kind and code. */
#define FAILED(of_kind, of_code)                                            \
  do {                                                                      \
    EXPECT(fnstore_error_kind(error) == of_kind);                           \
    EXPECT(fnstore_error_code(error) && !strcmp(fnstore_error_code(error), of_code)); \
    EXPECT(strlen(fnstore_error_message(error)) > 5);                       \
    EXPECT(strstr(fnstore_error_json(error), of_code));                     \
    fnstore_error_free(error);                                              \
    error = NULL;                                                           \
  } while (0)

#define USAGE(it, code)                                                     \
  do {                                                                      \
    EXPECT(!(it));                                                          \
    FAILED(FNSTORE_KIND_USAGE, code);                                 \
  } while (0)

static const char *const NOT_UTF8 = "\xff\xfe";
static const char *const CHECKING = "frame=Checking not origin=generated";
static fnstore_error *error;

static char *in_folder(const char *folder, const char *name) {
  char *path = malloc(strlen(folder) + strlen(name) + 2);
  sprintf(path, "%s/%s", folder, name);
  return path;
}

#define BUSY(it)                        \
  do {                                  \
    EXPECT(!(it));                      \
    FAILED(FNSTORE_KIND_LOCKED, "F-busy"); \
  } while (0)

/* A callback may not write. */
static void write_within(fnstore_database *database, const char *release) {
  const char *script = "{\"op\":\"add-sentence\",\"text\":\"Never .\"}";
  uint64_t one = 1;
  BUSY(fnstore_import(database, release, "within", NULL, NULL, NULL, NULL, NULL, &error));
  BUSY(fnstore_edit(database, NULL, script, strlen(script), NULL, NULL, NULL, &error));
  BUSY(fnstore_undo(database, &one, 1, NULL, NULL, NULL, NULL, &error));
  BUSY(fnstore_decide(database, NULL, "Checking", "a.v", 0, "kim", NULL, NULL, NULL, &error));
}

struct import {
  fnstore_database *database;
  const char *release;
  uint64_t total;
};

static int count_files(uint64_t files, uint64_t total, void *data) {
  struct import *import = data;
  uint64_t count = 7, revision = 7;
  EXPECT(files <= total);
  import->total = total;
  write_within(import->database, import->release);
  /* It may read. */
  EXPECT(fnstore_count(import->database, NULL, &count, &error) && count == 0);
  EXPECT(fnstore_revision(import->database, &revision, &error) && revision < 7);
  return 0;
}

static int refuse(uint64_t files, uint64_t total, void *data) {
  (void)files, (void)total, (void)data;
  return 1;
}

/* The last commit has this in its line. */
static void signed_by(const fnstore_database *database, const char *by) {
  fnstore_lines *history = fnstore_history(database, 1, &error);
  EXPECT(history && strstr(fnstore_lines_get(history, 0), by));
  fnstore_lines_free(history);
}

static fnstore_database *import(const char *release, const char *path) {
  fnstore_database *database = fnstore_open(path, FNSTORE_OPEN_MODE_CREATE, &error);
  EXPECT(database && !error);
  EXPECT(!fnstore_import(database, release, NULL, NULL, NULL, refuse, NULL, NULL, &error));
  FAILED(FNSTORE_KIND_FAILED, "E-stopped");
  struct import import = {database, release, 0};
  uint64_t revision = 0, last = 0;
  char *report =
      fnstore_import(database, release, "mini", "en", "kim", count_files, &import, &revision, &error);
  EXPECT(report && strstr(report, "\"frames\":6") && import.total > 5);
  fnstore_text_free(report);
  EXPECT(fnstore_revision(database, &last, &error) && revision == last && last > 0);
  USAGE(fnstore_import(database, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &error), "F-null");
  EXPECT(!fnstore_import(database, release, "mini", NULL, NULL, NULL, NULL, NULL, &error));
  FAILED(FNSTORE_KIND_FAILED, "E-release-exists");
  signed_by(database, "\"by\":\"kim\"");
  return database;
}

/* The bytes of a span are its code points. */
static void check_spans(const char *text, fnstore_span bytes, fnstore_span code_points) {
  uint32_t seen = 0, at = 0;
  for (; at < bytes.start; at++) seen += (text[at] & 0xC0) != 0x80;
  EXPECT(seen == code_points.start);
  for (; at < bytes.end; at++) seen += (text[at] & 0xC0) != 0x80;
  EXPECT(seen == code_points.end);
}

static void read_answer(const fnstore_answer *answer) {
  EXPECT(!strcmp(fnstore_answer_frame(answer), "Checking"));
  EXPECT(fnstore_answer_frame_id(answer) == 102 && fnstore_answer_lu_id(answer) > 0);
  EXPECT(strchr(fnstore_answer_lu(answer), '.'));
  EXPECT(!strcmp(fnstore_answer_release(answer), "mini"));
  EXPECT(strlen(fnstore_answer_sentence(answer)) > 1 && strlen(fnstore_answer_origin(answer)) > 3);
  EXPECT(fnstore_answer_status(answer) && fnstore_answer_round(answer) == 0);
  EXPECT(!fnstore_answer_seed(answer) && isnan(fnstore_answer_score(answer, FNSTORE_SCORE_ALIGNER)));
  (void)fnstore_answer_document(answer);
  const char *text = fnstore_answer_text(answer);
  fnstore_span bytes, code_points;
  size_t targets = fnstore_answer_target_count(answer);
  EXPECT(targets > 0);
  for (size_t i = 0; i < targets; i++) {
    EXPECT(fnstore_answer_target(answer, i, &bytes, &code_points, &error));
    check_spans(text, bytes, code_points);
    if (targets == 1) {
      const char *trigger = fnstore_answer_trigger(answer);
      EXPECT(strlen(trigger) == bytes.end - bytes.start);
      EXPECT(!memcmp(trigger, text + bytes.start, strlen(trigger)));
    }
  }
  EXPECT(!fnstore_answer_target(answer, targets, NULL, NULL, &error) && !error);
  fnstore_element element;
  size_t elements = fnstore_answer_element_count(answer);
  for (size_t i = 0; i < elements; i++) {
    EXPECT(fnstore_answer_element(answer, i, &element, &error));
    EXPECT(strlen(element.name) > 0 && element.rank >= 1);
    EXPECT((element.ni != NULL) == (element.bytes.end == 0));
    check_spans(text, element.bytes, element.code_points);
  }
  EXPECT(!fnstore_answer_element(answer, elements, &element, &error) && !error);
  const char *json = fnstore_answer_json(answer, &error);
  EXPECT(json && strstr(json, fnstore_answer_id(answer)) && json == fnstore_answer_json(answer, NULL));
}

static void query(fnstore_database *database) {
  uint64_t all = 0, seen = 0;
  EXPECT(fnstore_count(database, CHECKING, &all, &error) && all > 5);
  char *after = NULL;
  fnstore_answer *kept = NULL;
  for (;;) { /* Pages of three. */
    fnstore_answers *page = fnstore_query(database, CHECKING, "lu,-text", after, 3, &error);
    EXPECT(page);
    fnstore_text_free(after);
    after = NULL;
    fnstore_answer *answer, *last = NULL;
    while ((answer = fnstore_answers_next(page, &error))) {
      read_answer(answer);
      fnstore_answer_free(last);
      last = answer;
      seen++;
    }
    EXPECT(!error);
    if (!last) {
      fnstore_answers_free(page);
      break;
    }
    EXPECT((after = fnstore_answers_cursor(page, last, &error)));
    fnstore_answers_free(page); /* Before its answers. */
    fnstore_answer_free(kept);
    kept = last;
  }
  EXPECT(seen == all);
  EXPECT(fnstore_answer_text(kept));
  fnstore_answer *same =
      fnstore_annotation_set(database, NULL, fnstore_answer_id(kept), &error);
  EXPECT(same && !strcmp(fnstore_answer_text(same), fnstore_answer_text(kept)));
  fnstore_answer_free(same);
  fnstore_answer_free(kept);
  EXPECT(!fnstore_query(database, "frame=Cheking", NULL, NULL, 0, &error));
  EXPECT(strstr(fnstore_error_message(error), "Checking"));
  fnstore_error_free(error);
  EXPECT(!fnstore_query(database, "frme=Checking", NULL, NULL, 0, NULL));
  USAGE(fnstore_query(database, NOT_UTF8, NULL, NULL, 0, &error), "F-utf8");
  EXPECT(!fnstore_query(database, NULL, NULL, "nonsense", 0, &error) && error);
  fnstore_error_free(error);
  EXPECT(!fnstore_query(database, NULL, "nonsense", NULL, 0, &error) && error);
  fnstore_error_free(error);
  USAGE(fnstore_query(NULL, NULL, NULL, NULL, 0, &error), "F-null");
  USAGE(fnstore_count(NULL, NULL, &all, &error), "F-null");
  EXPECT(fnstore_count(database, NULL, NULL, &error));
  USAGE(fnstore_answers_next(NULL, &error), "F-null");
  USAGE(fnstore_answers_cursor(NULL, NULL, &error), "F-null");
  USAGE(fnstore_annotation_set(database, NULL, "7", &error), "F-id");
  USAGE(fnstore_annotation_set(database, NULL, NULL, &error), "F-null");
  EXPECT(!fnstore_answer_text(NULL) && !fnstore_answer_frame_id(NULL));
  USAGE(fnstore_answer_json(NULL, &error), "F-null");
  USAGE(fnstore_answer_target(NULL, 0, NULL, NULL, &error), "F-null");
  USAGE(fnstore_answer_element(NULL, 0, NULL, &error), "F-null");
}

static void *take_answers(void *answers) {
  size_t count = 0;
  for (fnstore_answer *it; (it = fnstore_answers_next(answers, NULL)); count++) fnstore_answer_free(it);
  return (void *)count;
}

/* Threads that share a list take each answer once. */
static void threads(fnstore_database *database) {
  uint64_t all = 0;
  size_t taken = 0;
  EXPECT(fnstore_count(database, NULL, &all, &error));
  fnstore_answers *answers = fnstore_query(database, NULL, NULL, NULL, 0, &error);
  pthread_t takers[4];
  for (int i = 0; i < 4; i++) pthread_create(&takers[i], NULL, take_answers, answers);
  for (int i = 0; i < 4; i++) {
    void *count;
    pthread_join(takers[i], &count);
    taken += (size_t)count;
  }
  EXPECT(taken == all);
  fnstore_answers_free(answers);
}

static void lexicon(fnstore_database *database) {
  static const size_t least[] = {6, 5, 1, 1, 1};
  for (uint32_t kind = FNSTORE_LEXICON_KIND_FRAMES; kind <= FNSTORE_LEXICON_KIND_DOCUMENTS; kind++) {
    fnstore_lines *lines = fnstore_lexicon(database, "mini", kind, NULL, &error);
    EXPECT(lines && fnstore_lines_count(lines) >= least[kind]);
    for (size_t i = 0; i < fnstore_lines_count(lines); i++)
      EXPECT(fnstore_lines_get(lines, i)[0] == '{');
    EXPECT(!fnstore_lines_get(lines, fnstore_lines_count(lines)));
    fnstore_lines_free(lines);
  }
  fnstore_lines *lines = fnstore_lexicon(database, NULL, FNSTORE_LEXICON_KIND_LUS, "check*", &error);
  EXPECT(lines && fnstore_lines_count(lines) >= 1 && strstr(fnstore_lines_get(lines, 0), "check"));
  fnstore_lines_free(lines);
  lines = fnstore_releases(database, &error);
  EXPECT(fnstore_lines_count(lines) == 1 && strstr(fnstore_lines_get(lines, 0), "\"mini\""));
  fnstore_lines_free(lines);
  char *frame = fnstore_frame(database, NULL, "Checking", &error);
  EXPECT(frame && strstr(frame, "\"elements\""));
  fnstore_text_free(frame);
  char *lu = fnstore_lu(database, "mini", "Checking", "inspect.v", &error);
  EXPECT(lu && strstr(lu, "inspect.v"));
  fnstore_text_free(lu);
  USAGE(fnstore_lexicon(database, NULL, 99, NULL, &error), "F-number");
  USAGE(fnstore_lexicon(NULL, NULL, 0, NULL, &error), "F-null");
  USAGE(fnstore_releases(NULL, &error), "F-null");
  USAGE(fnstore_frame(database, NULL, NULL, &error), "F-null");
  USAGE(fnstore_lu(database, NULL, NULL, NOT_UTF8, &error), "F-utf8");
  EXPECT(!fnstore_frame(database, NULL, "Nothing", &error) && error);
  fnstore_error_free(error);
  EXPECT(!fnstore_lexicon(database, "other", 0, NULL, &error) && error);
  fnstore_error_free(error);
}

static uint64_t edit(fnstore_database *database, const char *script) {
  uint64_t revision = 0;
  fnstore_lines *done =
      fnstore_edit(database, NULL, script, strlen(script), "kim", "a trial", &revision, &error);
  EXPECT(done && fnstore_lines_count(done) > 0 && revision > 1);
  EXPECT(strstr(fnstore_lines_get(done, 0), "\"line\":1"));
  fnstore_lines_free(done);
  return revision;
}

/* A commit without an author has none, whoever made the one before. */
static void edit_unsigned(fnstore_database *database) {
  uint64_t revision = 0;
  const char *script = "{\"op\":\"add-sentence\",\"text\":\"Unsigned .\"}";
  edit(database, script);
  signed_by(database, "\"by\":\"kim\"");
  fnstore_lines_free(fnstore_edit(database, NULL, script, strlen(script), NULL, NULL, &revision, &error));
  fnstore_lines *history = fnstore_history(database, 1, &error);
  EXPECT(revision && !strstr(fnstore_lines_get(history, 0), "kim"));
  fnstore_lines_free(history);
}

static void edits(fnstore_database *database) {
  uint64_t before = 0, now = 0, count = 0, records = 0;
  EXPECT(fnstore_revision(database, &before, &error));
  uint64_t added = edit(database,
                        "{\"op\":\"add-lu\",\"as\":\"l\",\"frame\":\"Checking\",\"name\":\"proofread.v\"}\n"
                        "{\"op\":\"add-sentence\",\"as\":\"s\",\"text\":\"\xc3\x89mile proofread it .\"}\n"
                        "{\"op\":\"add-set\",\"sentence\":\"@s\",\"frame\":\"Checking\",\"lu\":\"@l\","
                        "\"targets\":[[6,15]]}\n");
  EXPECT(added == before + 1);
  fnstore_answers *answers = fnstore_query(database, "lu=proofread.v", NULL, NULL, 0, &error);
  fnstore_answer *answer = fnstore_answers_next(answers, &error);
  EXPECT(answer && !strcmp(fnstore_answer_trigger(answer), "proofread"));
  read_answer(answer);
  fnstore_span bytes = {0, 0};
  EXPECT(fnstore_answer_target(answer, 0, &bytes, NULL, &error) && bytes.start == 7);
  fnstore_answer_free(answer);
  fnstore_answers_free(answers);
  uint64_t renamed = edit(database, "{\"op\":\"edit-lu\",\"frame\":\"Checking\",\"lu\":\"proofread.v\",\"status\":\"New\"}");
  EXPECT(!fnstore_undo(database, &added, 1, "kim", NULL, NULL, NULL, &error));
  FAILED(FNSTORE_KIND_FAILED, "E-undo-conflict");
  uint64_t both[] = {added, renamed};
  EXPECT(fnstore_undo(database, both, 2, "kim", "a trial", &now, &records, &error));
  EXPECT(now == renamed + 1 && records > 2);
  EXPECT(!fnstore_query(database, "lu=proofread.v", NULL, NULL, 0, &error) && error);
  fnstore_error_free(error);
  fnstore_lines *history = fnstore_history(database, 3, &error);
  EXPECT(fnstore_lines_count(history) == 3 && strstr(fnstore_lines_get(history, 0), "\"by\":\"kim\""));
  fnstore_lines_free(history);
  const char *wrong = "{\"op\":\"add-lu\",\"frame\":\"Nothing\",\"name\":\"a.v\"}";
  EXPECT(!fnstore_edit(database, NULL, wrong, strlen(wrong), NULL, NULL, NULL, &error) && error);
  fnstore_error_free(error);
  EXPECT(!fnstore_edit(database, NULL, "{", 1, NULL, NULL, NULL, &error));
  FAILED(FNSTORE_KIND_BAD_INPUT, "E-syntax");
  USAGE(fnstore_edit(database, NULL, "{\0}", 3, NULL, NULL, NULL, &error), "F-nul");
  USAGE(fnstore_edit(database, NULL, NOT_UTF8, 2, NULL, NULL, NULL, &error), "F-utf8");
  USAGE(fnstore_edit(database, NULL, NULL, 0, NULL, NULL, NULL, &error), "F-null");
  USAGE(fnstore_edit(database, NULL, "", SIZE_MAX, NULL, NULL, NULL, &error), "F-number");
  USAGE(fnstore_undo(database, NULL, 1, NULL, NULL, NULL, NULL, &error), "F-null");
  USAGE(fnstore_undo(database, NULL, 0, NULL, NULL, NULL, NULL, &error), "F-null");
  USAGE(fnstore_undo(database, &added, 0, NULL, NULL, NULL, NULL, &error), "F-number");
  USAGE(fnstore_undo(database, &added, SIZE_MAX / 4, NULL, NULL, NULL, NULL, &error), "F-number");
  USAGE(fnstore_history(NULL, 0, &error), "F-null");
  uint64_t none = 9999;
  EXPECT(!fnstore_undo(database, &none, 1, NULL, NULL, NULL, NULL, &error));
  FAILED(FNSTORE_KIND_FAILED, "E-undo");
  EXPECT(fnstore_revision(database, &count, &error) && count == now);
}

static void *edit_later(void *path) {
  fnstore_database *database = fnstore_open(path, FNSTORE_OPEN_MODE_READ, NULL);
  const char *script = "{\"op\":\"add-sentence\",\"text\":\"Later .\"}";
  fnstore_lines *done = fnstore_edit(database, NULL, script, strlen(script), NULL, NULL, NULL, NULL);
  fnstore_close(database);
  return done;
}

static void feed(fnstore_database *reader, char *path) {
  uint64_t last = 0;
  EXPECT(fnstore_revision(reader, &last, &error));
  char *generation = fnstore_generation(reader, &error);
  EXPECT(generation);
  fnstore_feed *feed = fnstore_follow(reader, 0, generation, true, &error);
  EXPECT(feed);
  fnstore_change *change;
  uint64_t seen = 0, records = 0;
  while ((change = fnstore_feed_next(feed, 0, &error))) {
    if (fnstore_change_is_last(change)) seen = fnstore_change_revision(change);
    if (fnstore_change_record(change)) records++;
    EXPECT(strlen(fnstore_change_action(change)) > 4 && strlen(fnstore_change_kind(change)) > 1);
    EXPECT(strstr(fnstore_change_key(change), fnstore_change_id(change)));
    (void)fnstore_change_sentence(change), (void)fnstore_change_reviewer(change);
    (void)fnstore_change_sentence_record(change);
    EXPECT(strstr(fnstore_change_json(change), fnstore_change_kind(change)));
    EXPECT(fnstore_change_release(change) == 1);
    fnstore_change_free(change);
  }
  EXPECT(!error && seen == last);
  pthread_t thread;
  void *done;
  pthread_create(&thread, NULL, edit_later, path);
  change = fnstore_feed_next(feed, 20000, &error); /* Waits for the other thread. */
  EXPECT(change && strstr(fnstore_change_record(change), "Later ."));
  pthread_join(thread, &done);
  EXPECT(done);
  fnstore_lines_free(done);
  fnstore_feed_free(feed);
  EXPECT(!strcmp(fnstore_change_action(change), "added")); /* It outlives the feed. */
  fnstore_change_free(change);
  feed = fnstore_records(reader, 1, &error);
  for (records = 0; (change = fnstore_feed_next(feed, 1000, &error)); records++) {
    EXPECT(fnstore_change_record(change));
    fnstore_change_free(change);
  }
  EXPECT(!error && records > 50);
  fnstore_feed_free(feed);
  feed = fnstore_records(reader, 77, &error);
  EXPECT(feed && !fnstore_feed_next(feed, 0, &error) && !error);
  fnstore_feed_free(feed);
  EXPECT(!fnstore_follow(reader, 0, "another", false, &error));
  FAILED(FNSTORE_KIND_REPLACED, "S-replaced");
  EXPECT(!fnstore_follow(reader, 9999, generation, false, &error));
  FAILED(FNSTORE_KIND_REPLACED, "S-beyond");
  fnstore_text_free(generation);
  USAGE(fnstore_follow(NULL, 0, NULL, false, &error), "F-null");
  USAGE(fnstore_records(NULL, 0, &error), "F-null");
  USAGE(fnstore_feed_next(NULL, 0, &error), "F-null");
  EXPECT(!fnstore_change_record(NULL) && !fnstore_change_is_last(NULL));
}

struct run {
  fnstore_expander *expander, *other;
  fnstore_database *database;
  uint32_t answer;
  uint64_t asked;
};

static int progress(const fnstore_progress *at, void *data) {
  struct run *run = data;
  uint64_t count = 0;
  /* A callback may ask the library. */
  EXPECT(fnstore_count(run->database, NULL, &count, &error) && count > 0 && strlen(at->phase) > 4);
  EXPECT(at->seeds <= at->total && at->rounds <= at->total_rounds);
  write_within(run->database, "nowhere");
  BUSY(fnstore_expand(run->expander, run->database, NULL, NULL, NULL, NULL, NULL, &error));
  BUSY(fnstore_expand_set(run->expander, run->database, NULL, "x1", NULL, NULL, NULL, NULL, &error));
  BUSY(fnstore_expand(run->other, run->database, NULL, NULL, NULL, NULL, NULL, &error));
  EXPECT(!at->text || at->seed);
  run->asked++;
  return run->answer;
}

static void expand(fnstore_database *database, const char *models) {
  USAGE(fnstore_expander_open(NULL, NULL, NULL, &error), "F-null");
  EXPECT(!fnstore_expander_open("/nowhere", NULL, NULL, &error));
  EXPECT(fnstore_error_kind(error) == FNSTORE_KIND_NO_MODEL);
  fnstore_error_free(error);
  if (!models) return;
  USAGE(fnstore_expander_open(models, "{\"rounds\":", NULL, &error), "F-settings");
  fnstore_expander *expander =
      fnstore_expander_open(models, "{\"rounds\":1,\"beam\":2,\"candidates\":2}", "cpu", &error);
  EXPECT(expander);
  fnstore_expander *other = fnstore_expander_open(models, "{\"rounds\":1}", NULL, &error);
  EXPECT(other);
  struct run run = {expander, other, database, FNSTORE_STOP_NOW, 0};
  uint64_t revision = 0, last = 0;
  char *report = fnstore_expand(expander, database, "lu=audit.v", NULL, progress, &run, NULL, &error);
  EXPECT(report && strstr(report, "\"interrupted\":true") && strstr(report, "\"sentences\":0"));
  EXPECT(run.asked > 0);
  fnstore_text_free(report);
  fnstore_answers *answers = fnstore_query(database, "lu=audit.v origin=exemplar", NULL, NULL, 1, &error);
  fnstore_answer *seed = fnstore_answers_next(answers, &error);
  EXPECT(seed);
  run.answer = FNSTORE_STOP_GO_ON;
  report = fnstore_expand_set(expander, database, NULL, fnstore_answer_id(seed), "lee", progress, &run,
                              &revision, &error);
  EXPECT(report && strstr(report, "\"seeds\":1") && strstr(report, "\"interrupted\":false"));
  fnstore_text_free(report);
  EXPECT(fnstore_revision(database, &last, &error) && revision == last);
  signed_by(database, "\"by\":\"lee\"");
  fnstore_answer_free(seed);
  fnstore_answers_free(answers);
  report = fnstore_expand(expander, database, "lu=audit.v", NULL, NULL, NULL, NULL, &error);
  EXPECT(report);
  fnstore_text_free(report);
  answers = fnstore_query(database, "origin=generated", NULL, NULL, 0, &error);
  fnstore_answer *made = fnstore_answers_next(answers, &error);
  EXPECT(made && fnstore_answer_seed(made) && fnstore_answer_round(made) == 1);
  EXPECT(fnstore_answer_score(made, FNSTORE_SCORE_ALIGNER) > 0 && fnstore_answer_json(made, &error));
  EXPECT(isnan(fnstore_answer_score(made, 99)));
  char script[500]; /* As if the run had found another word. */
  snprintf(script, sizeof script,
           "{\"op\":\"add-lu\",\"as\":\"l\",\"frame\":\"%s\",\"name\":\"vet.v\"}\n"
           "{\"op\":\"edit-lu\",\"frame\":\"%s\",\"lu\":\"@l\",\"status\":\"Proposed\"}\n"
           "{\"op\":\"edit-set\",\"set\":\"%s\",\"lu\":\"@l\"}\n",
           fnstore_answer_frame(made), fnstore_answer_frame(made), fnstore_answer_id(made));
  edit(database, script);
  fnstore_answer_free(made);
  fnstore_answers_free(answers);
  EXPECT(!fnstore_expand_set(expander, database, NULL, "x999999", NULL, NULL, NULL, NULL, &error) && error);
  fnstore_error_free(error);
  USAGE(fnstore_expand(NULL, database, NULL, NULL, NULL, NULL, NULL, &error), "F-null");
  USAGE(fnstore_expand_set(expander, database, NULL, NULL, NULL, NULL, NULL, NULL, &error), "F-null");
  fnstore_expander_free(expander), fnstore_expander_free(other);
  fnstore_lines *proposals = fnstore_proposals(database, NULL, false, &error);
  EXPECT(proposals);
  size_t open = fnstore_lines_count(proposals);
  EXPECT(open > 0);
  char frame[100], lu[100]; /* They stand beside each other. */
  const char *line = strstr(fnstore_lines_get(proposals, 0), "\"frame\":");
  EXPECT(sscanf(line, "\"frame\":\"%99[^\"]\",\"lu\":\"%99[^\"]\"", frame, lu) == 2);
  EXPECT(fnstore_decide(database, NULL, frame, lu, FNSTORE_VERDICT_ACCEPT, "kim", "good", NULL, &revision, &error));
  EXPECT(fnstore_revision(database, &last, &error) && revision == last);
  signed_by(database, "\"by\":\"kim\"");
  fnstore_lines *left = fnstore_proposals(database, NULL, false, &error);
  EXPECT(left && fnstore_lines_count(left) == open - 1);
  fnstore_lines_free(left);
  fnstore_lines_free(proposals);
}

static void decisions(fnstore_database *database) {
  fnstore_lines *none = fnstore_proposals(database, NULL, true, &error);
  EXPECT(none && fnstore_lines_count(none) == 0);
  fnstore_lines_free(none);
  EXPECT(!fnstore_decide(database, NULL, "Checking", "nothing.v", FNSTORE_VERDICT_REJECT, "kim", NULL, NULL, NULL, &error));
  FAILED(FNSTORE_KIND_FAILED, "E-no-proposal");
  USAGE(fnstore_decide(database, NULL, "Checking", "a.v", 7, "kim", NULL, NULL, NULL, &error), "F-number");
  USAGE(fnstore_decide(database, NULL, "Checking", "a.v", 0, NULL, NULL, NULL, NULL, &error), "F-null");
  USAGE(fnstore_proposals(NULL, NULL, true, &error), "F-null");
}

static void opening(const char *folder, const char *store) {
  char *file = in_folder(folder, "file"), *foreign = in_folder(folder, "foreign");
  char *outdated = in_folder(folder, "outdated");
  EXPECT(!fnstore_open("/nowhere/at/all", FNSTORE_OPEN_MODE_READ, &error));
  FAILED(FNSTORE_KIND_NO_STORE, "S-absent");
  EXPECT(!fnstore_open(file, FNSTORE_OPEN_MODE_READ, &error) && error);
  fnstore_error_free(error);
  EXPECT(!fnstore_open(file, FNSTORE_OPEN_MODE_CREATE, &error) && error);
  fnstore_error_free(error);
  EXPECT(!fnstore_open(foreign, FNSTORE_OPEN_MODE_CREATE, &error));
  FAILED(FNSTORE_KIND_FAILED, "S-not-a-store");
  EXPECT(!fnstore_open(store, FNSTORE_OPEN_MODE_WRITE, &error));
  FAILED(FNSTORE_KIND_LOCKED, "S-locked");
  EXPECT(!fnstore_open(outdated, FNSTORE_OPEN_MODE_READ, &error));
  FAILED(FNSTORE_KIND_FAILED, "S-outdated");
  USAGE(fnstore_open(NULL, 0, &error), "F-null");
  USAGE(fnstore_open(NOT_UTF8, 0, &error), "F-utf8");
  USAGE(fnstore_open(store, 9, &error), "F-number");
  USAGE(fnstore_revision(NULL, NULL, &error), "F-null");
  USAGE(fnstore_generation(NULL, &error), "F-null");
  free(file), free(foreign), free(outdated);
}

int main(int argc, char **argv) {
  EXPECT(argc >= 3 && fnstore_abi_is_right() && strchr(fnstore_version(), '.'));
  char *path = in_folder(argv[2], "store");
  fnstore_database *writer = import(argv[1], path);
  opening(argv[2], path);
  query(writer);
  threads(writer);
  lexicon(writer);
  edit_unsigned(writer);
  edits(writer);
  decisions(writer);
  expand(writer, argc > 3 ? argv[3] : NULL);
  fnstore_database *reader = fnstore_open(path, FNSTORE_OPEN_MODE_READ, &error);
  EXPECT(reader);
  fnstore_answers *answers = fnstore_query(writer, NULL, NULL, NULL, 0, &error);
  fnstore_answer *first = fnstore_answers_next(answers, &error);
  fnstore_close(writer); /* Before its answers. */
  fnstore_answer *second = fnstore_answers_next(answers, &error);
  EXPECT(first && second);
  fnstore_answer_free(second), fnstore_answer_free(first);
  fnstore_answers_free(answers);
  query(reader);
  edits(reader); /* A reader's handle takes the lock for as long as it saves, */
  fnstore_keep_writer(reader, 60000);
  edits(reader); /* or keeps it. */
  EXPECT(edit(reader, "{\"op\":\"edit-lu\",\"frame\":\"Checking\",\"lu\":1001,\"status\":\"New\"}"));
  EXPECT(!fnstore_open(path, FNSTORE_OPEN_MODE_WRITE, &error));
  FAILED(FNSTORE_KIND_LOCKED, "S-locked");
  fnstore_keep_writer(reader, 0);
  fnstore_database *other = fnstore_open(path, FNSTORE_OPEN_MODE_WRITE, &error);
  EXPECT(other);
  fnstore_close(other);
  feed(reader, path);
  fnstore_close(reader);
  fnstore_close(NULL), fnstore_answers_free(NULL), fnstore_answer_free(NULL), fnstore_lines_free(NULL);
  fnstore_feed_free(NULL), fnstore_change_free(NULL), fnstore_expander_free(NULL);
  fnstore_error_free(NULL), fnstore_text_free(NULL);
  EXPECT(fnstore_error_kind(NULL) == FNSTORE_KIND_NONE && !fnstore_error_code(NULL));
  EXPECT(fnstore_error_message(NULL) && fnstore_error_json(NULL) && !fnstore_lines_count(NULL));
  free(path);
  puts("all as expected");
  return 0;
}
