/* Keeps a copy of a fnstore database in a file, and goes on where it was stopped.
 *
 *     follow STORE COPY [MILLISECONDS]      ends when nothing comes for so long; 0 looks once
 *
 * The copy is a journal. `+ KEY RECORD` puts a record, `- KEY` removes one, `! RELEASE` removes those of
 * a release, `= REVISION GENERATION` ends a commit; tabs part them. What stands behind the last commit's
 * end is cut off when the program starts.
 */
#include <fnstore.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static fnstore_error *error;

static void put(FILE *copy, const fnstore_change *change) {
  const char *key = fnstore_change_key(change), *record = fnstore_change_record(change);
  const char *sentence = fnstore_change_sentence_record(change);
  if (record) fprintf(copy, "+\t%s\t%s\n", key, record);
  else if (strcmp(fnstore_change_kind(change), "release")) fprintf(copy, "-\t%s\n", key);
  if (sentence)
    fprintf(copy, "+\t%" PRIu32 "/sentence/%s\t%s\n", fnstore_change_release(change),
            fnstore_change_sentence(change), sentence);
}

/* An import is one change. An edited frame or LU may be called otherwise in many records. */
static void put_release(FILE *copy, const fnstore_database *database, uint32_t release) {
  fnstore_feed *records = fnstore_records(database, release, &error);
  if (records) fprintf(copy, "!\t%" PRIu32 "\n", release);
  for (fnstore_change *it; records && (it = fnstore_feed_next(records, 0, &error)); fnstore_change_free(it))
    put(copy, it);
  fnstore_feed_free(records);
}

static void take(FILE *copy, const fnstore_database *database, const fnstore_change *change) {
  const char *kind = fnstore_change_kind(change);
  int is_named = !strcmp(kind, "frame") || !strcmp(kind, "lu");
  if (!strcmp(kind, "release") || (is_named && !strcmp(fnstore_change_action(change), "edited")))
    put_release(copy, database, fnstore_change_release(change));
  else
    put(copy, change);
}

/* Ends at the first error, which the next call would forget. A commit's end is written when all of it is. */
static void follow(FILE *copy, const fnstore_database *database, uint64_t since, const char *known, uint64_t patience) {
  char *generation = fnstore_generation(database, &error);
  fnstore_feed *feed = error ? NULL : fnstore_follow(database, since, known, true, &error);
  for (fnstore_change *it; feed && !ferror(copy) && (it = fnstore_feed_next(feed, patience, &error));) {
    take(copy, database, it);
    int is_whole = !error && fnstore_change_is_last(it) && !fflush(copy);
    if (is_whole) { /* A store that no writer has opened for long has no generation. */
      fprintf(copy, "=\t%" PRIu64 "\t%s\n", fnstore_change_revision(it), generation ? generation : "-");
      fflush(copy);
    }
    fnstore_change_free(it);
    if (error) break;
  }
  fnstore_feed_free(feed);
  fnstore_text_free(generation);
}

int main(int argc, char **argv) {
  if (argc < 3 || !fnstore_abi_is_right()) return 2;
  FILE *copy = fopen(argv[2], "a+");
  fnstore_database *database = fnstore_open(argv[1], FNSTORE_OPEN_MODE_READ, &error);
  uint64_t since = 0, patience = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
  char *line = NULL, known[40] = "";
  size_t room = 0;
  long end = 0;
  if (copy) rewind(copy);
  while (copy && getline(&line, &room, copy) > 0)
    if (strchr(line, '\n') && sscanf(line, "=\t%" SCNu64 "\t%39s", &since, known) == 2) end = ftell(copy);
  free(line);
  int is_ready = copy && database && !ftruncate(fileno(copy), end) && !fseek(copy, end, SEEK_SET);
  int is_known = *known && strcmp(known, "-");
  if (is_ready) follow(copy, database, since, is_known ? known : NULL, patience);
  if (is_ready && fnstore_error_kind(error) == FNSTORE_KIND_REPLACED && !ftruncate(fileno(copy), 0)) {
    fnstore_error_free(error); /* A restore: the store is read anew. */
    fnstore_close(database);
    if ((database = fnstore_open(argv[1], FNSTORE_OPEN_MODE_READ, &error))) follow(copy, database, 0, NULL, patience);
  }
  if (error) fprintf(stderr, "%s\n", fnstore_error_message(error));
  else if (!is_ready || ferror(copy)) fprintf(stderr, "the copy cannot be written\n");
  int failed = !is_ready || error || ferror(copy);
  fnstore_error_free(error);
  fnstore_close(database);
  return (copy && fclose(copy)) || failed;
}
