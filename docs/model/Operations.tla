------------------------------ MODULE Operations ------------------------------
(* Changes of many rows: versioned rows with locks, rows that belong to them, operations. *)
(* README.md beside this file tells what is modelled and how to read it.                   *)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
    Changers,   \* operations, each its own owner, that change a, b and what belongs to a
    Early,      \* operations that lock b, closed, before they read what belongs to it
    Writers,    \* change a and what belongs to it in one transaction
    Resting,    \* those of the writers whose transaction rests on b
    Creators,   \* add to what belongs to b in one transaction, by a right that b gives
    Readers,    \* read a, b and what belongs to a
    Glancing,   \* those of the readers who read a and b alone
    Sweepers,   \* end whatever operation they find, again and again
    InCommit,   \* the rows, besides its target, whose locks an operation takes in the commit
    Together,   \* the rows whose lines are carried out in one transaction
    Dropped     \* the conditions that this run does without

Versioned == {"a", "b"}
Plain == {"p", "q"}                     \* p belongs to a, q to b
Rows == Versioned \cup Plain
Owners == Changers \cup Early
Requests == Writers \cup Creators \cup Readers
Actors == Owners \cup Requests \cup Sweepers

Nobody == "nobody"
NoLine == [ver |-> 0, val |-> {Nobody}]

VARIABLES
    row,        \* of each versioned row: version, value, the operation that locks it
    plain,      \* of each plain row: its value; {} where there is none
    header,     \* of each operation: none, pending, committed, gone
    done,       \* of each operation: how many pages of lines are applied
    lines,      \* of each operation: the rows whose lines are stored
    content,    \* of each operation: what its lines say, also after they are deleted
    at,         \* of each actor: its next step, which is one call to the storage
    of,         \* of each actor: what it remembers
    truth,      \* what each row counts as, by the order of the commits alone
    seen,       \* of each reader: every truth since it read the rows
    wrong       \* what has gone wrong in a decision or an answer

stored == <<row, plain, header, done, lines, content>>
judged == <<truth, seen, wrong>>
vars == <<stored, at, of, judged>>

(* A value is the set of the changes that made it: what is lost is missing. *)

Holds(condition, is_true) == condition \in Dropped \/ is_true
Exists(o) == header[o] \in {"pending", "committed"}
Is(r, read) == r.ver = read.ver
IsFree(r) == r.lock = Nobody
Target(o) == IF o \in Changers THEN "a" ELSE "b"
IsClosed(o) == o \in Early

NoRows == [v \in Versioned |-> [ver |-> 0, val |-> {}, lock |-> Nobody]]
Blank == [rows |-> NoRows, first |-> NoRows, unsure |-> {}, set |-> {}, over |-> {}, met |-> {}, carried |-> {},
          ending |-> Nobody, then |-> "end", found |-> {}, left |-> {}, known |-> 0]

(* The steps of those who own an operation, in order. *)

Plan(o) ==
    IF o \in Changers
    THEN LET locks == IF "b" \in InCommit THEN <<>> ELSE <<"lock_b">>
             prepared == IF "stage: before the locks" \in Dropped
                         THEN <<"begin">> \o locks \o <<"stage">>
                         ELSE IF "begin: before the lines" \in Dropped
                         THEN <<"stage", "begin">> \o locks
                         ELSE <<"begin", "stage">> \o locks
         IN <<"read_rows", "read_set">> \o prepared \o <<"commit", "end">>
    ELSE LET read == IF "early: locks before it reads" \in Dropped
                     THEN <<"read_rows", "read_set", "begin">>
                     ELSE <<"read_rows", "begin", "read_set">>
             locks == IF "a" \in InCommit THEN <<>> ELSE <<"lock_a">>
         IN read \o <<"stage">> \o locks \o <<"commit", "end">>

After(o, step) ==
    LET plan == Plan(o)
        n == CHOOSE n \in DOMAIN plan: plan[n] = step
    IN plan[n + 1]

Pages(o) ==
    LET each == IF o \in Early THEN <<{"q"}, {"a"}, {"b"}>>
                ELSE IF "apply: unlocks last" \in Dropped THEN <<{"a"}, {"p"}, {"b"}>>
                ELSE <<{"p"}, {"a"}, {"b"}>>
    IN IF Together = {} THEN SelectSeq(each, LAMBDA page: \E k \in page: content[o][k] # NoLine)
       ELSE <<each[1], each[2] \cup each[3]>>     \* with lines of other rows on the first page

(* What rows count as, to who sees all of the storage at once. *)

CountsAs(v) ==
    LET o == row[v].lock
    IN IF o # Nobody /\ header[o] = "committed" THEN content[o][v].val ELSE row[v].val

CountsAsPlain(k) ==
    LET due == {o \in Owners: /\ header[o] = "committed" /\ content[o][k] # NoLine
                              /\ \E n \in DOMAIN Pages(o): k \in Pages(o)[n] /\ n > done[o]}
    IN IF due = {} THEN plain[k] ELSE content[CHOOSE o \in due: TRUE][k].val

-------------------------------------------------------------------------------
Init ==
    /\ row = [v \in Versioned |-> [ver |-> 1, val |-> {}, lock |-> Nobody]]
    /\ plain = [k \in Plain |-> {}]
    /\ header = [o \in Owners |-> "none"]
    /\ done = [o \in Owners |-> 0]
    /\ lines = [o \in Owners |-> {}]
    /\ content = [o \in Owners |-> [k \in Rows |-> NoLine]]
    /\ at = [x \in Actors |-> IF x \in Sweepers THEN "scan" ELSE "read_rows"]
    /\ of = [x \in Actors |-> Blank]
    /\ truth = [k \in Rows |-> {}]
    /\ seen = [r \in Readers |-> {}]
    /\ wrong = {}

Go(x, step) == at' = [at EXCEPT ![x] = step]
Remember(x, what) == of' = [of EXCEPT ![x] = what]
Stop(x) == Go(x, "end") /\ Remember(x, Blank)
(* A request keeps in mind which committed operations it has met. *)
Anew(x, step) == Go(x, step) /\ Remember(x, [Blank EXCEPT !.met = of[x].met])
Again(x) == Anew(x, "read_rows")

End(x, o, then, met) ==
    /\ Go(x, "find_header")
    /\ Remember(x, [Blank EXCEPT !.ending = o, !.then = then, !.met = of[x].met,
                    !.left = IF "write: removes the lock it met" \in Dropped THEN {} ELSE met])

Ended(x) ==
    IF of[x].then = "end" THEN Stop(x) ELSE Anew(x, of[x].then)
Owns(x) == of[x].ending = x

Becomes(t) ==
    /\ truth' = t
    /\ seen' = [r \in Readers |-> IF at[r] \in {"read_rows", "end"} THEN {} ELSE seen[r] \cup {t}]

Blame(is_wrong, sentence) == wrong' = IF is_wrong THEN wrong \cup {sentence} ELSE wrong

(* Whoever owns an operation *)

OwnerReadsRows(o) ==
    /\ o \in Owners /\ at[o] = "read_rows"
    /\ LET locked == {v \in Versioned: ~IsFree(row[v])}
       IN IF locked # {}
          THEN LET v == CHOOSE v \in locked: TRUE
               IN End(o, row[v].lock, "read_rows", {v})
          ELSE Go(o, After(o, "read_rows")) /\ Remember(o, [Blank EXCEPT !.rows = row])
    /\ UNCHANGED <<stored, judged>>

OwnerReadsSet(o) ==
    /\ o \in Owners /\ at[o] = "read_set"
    /\ Remember(o, [of[o] EXCEPT !.set = plain[IF o \in Early THEN "q" ELSE "p"]])
    /\ Go(o, After(o, "read_set"))
    /\ UNCHANGED <<stored, judged>>

Takes(o, v) ==
    /\ Holds("lock: version as read", Is(row[v], of[o].rows[v]))
    /\ Holds("lock: row not locked", IsFree(row[v]))

begin(o) ==
    /\ o \in Owners /\ at[o] = "begin"
    /\ IF o \in Changers \/ Takes(o, "b")
       THEN /\ header' = [header EXCEPT ![o] = "pending"]
            /\ row' = IF o \in Changers THEN row ELSE [row EXCEPT !["b"].lock = o]
            /\ Go(o, After(o, "begin"))
            /\ UNCHANGED of
       ELSE Stop(o) /\ UNCHANGED <<header, row>>
    /\ UNCHANGED <<plain, done, lines, content, judged>>

Changed(o, v) ==
    LET raised == IF "change: raises the version" \in Dropped THEN 0 ELSE 1
    IN [ver |-> of[o].rows[v].ver + raised, val |-> of[o].rows[v].val \cup {o}]

Rested(o, v) == [ver |-> of[o].rows[v].ver, val |-> of[o].rows[v].val]

Staged(o) ==
    IF o \in Changers
    THEN [a |-> Changed(o, "a"), b |-> Changed(o, "b"), q |-> NoLine,
          p |-> [ver |-> 0, val |-> of[o].set \cup {o}]]
    ELSE [a |-> Rested(o, "a"), b |-> Changed(o, "b"), p |-> NoLine,
          q |-> IF of[o].set = {} THEN NoLine ELSE [ver |-> 0, val |-> {}]]

stage(o) ==
    /\ o \in Owners /\ at[o] = "stage"
    /\ content' = [content EXCEPT ![o] = Staged(o)]
    /\ lines' = [lines EXCEPT ![o] = {k \in Rows: Staged(o)[k] # NoLine}]
    /\ Go(o, After(o, "stage"))
    /\ UNCHANGED <<row, plain, header, done, of, judged>>

(* An owner who is refused undoes their operation. Where others have, they remove its lines: *)
(* those that they staged since are still there.                                             *)
Abandon(o) ==
    /\ Go(o, "find_header")
    /\ Remember(o, [Blank EXCEPT !.ending = o, !.then = "end"])

lock(o) ==
    /\ o \in Owners /\ at[o] \in {"lock_a", "lock_b"}
    /\ LET v == IF at[o] = "lock_a" THEN "a" ELSE "b"
       IN IF Holds("lock: header exists", Exists(o)) /\ Takes(o, v)
          THEN /\ row' = [row EXCEPT ![v].lock = o]
               /\ Go(o, After(o, at[o]))
               /\ UNCHANGED of
          ELSE Abandon(o) /\ UNCHANGED row
    /\ UNCHANGED <<plain, header, done, lines, content, judged>>

Outcome(o) ==
    [k \in Rows |-> IF o \in Changers /\ k # "q" THEN truth[k] \cup {o}
                    ELSE IF o \in Early /\ k = "b" THEN truth[k] \cup {o}
                    ELSE IF o \in Early /\ k = "q" THEN {}
                    ELSE truth[k]]

IsStale(o) ==
    \/ \E v \in Versioned: of[o].rows[v].val # truth[v]
    \/ of[o].set # truth[IF o \in Early THEN "q" ELSE "p"]

commit(o) ==
    LET taken == IF o \in Changers THEN {"a"} \cup InCommit ELSE InCommit \ {"b"}
        target == Target(o)
    IN
    /\ o \in Owners /\ at[o] = "commit"
    /\ IF /\ Holds("commit: header exists", Exists(o))
          /\ \A v \in taken: Holds("commit: version as read", Is(row[v], of[o].rows[v]))
          /\ \A v \in taken: Holds("commit: row not locked", IsFree(row[v]))
       THEN /\ header' = [header EXCEPT ![o] = "committed"]
            /\ row' = [v \in Versioned |->
                   IF v = target THEN [ver |-> Changed(o, v).ver, val |-> Changed(o, v).val, lock |-> o]
                   ELSE IF v \in taken THEN [row[v] EXCEPT !.lock = o] ELSE row[v]]
            /\ Becomes(Outcome(o))
            /\ Blame(IsStale(o), "an operation was decided from what had changed")
            /\ Go(o, "apply")
            /\ Remember(o, [Blank EXCEPT !.ending = o, !.found = {k \in Rows: content[o][k] # NoLine}])
       ELSE Abandon(o) /\ UNCHANGED <<row, header, judged>>
    /\ UNCHANGED <<plain, done, lines, content>>

(* Whoever ends an operation: its owner, a request that met it, a sweeper *)

scan(x) ==
    /\ x \in Sweepers /\ at[x] = "scan"
    /\ \E o \in Owners: /\ Exists(o) \/ lines[o] # {}
                        /\ End(x, o, "scan", {})
    /\ UNCHANGED <<stored, judged>>

find_header(x) ==
    /\ at[x] = "find_header"
    /\ LET o == of[x].ending
       IN IF header[o] = "pending"
          THEN Go(x, "undo") /\ Remember(x, [of[x] EXCEPT !.left = {}])
          ELSE IF header[o] = "committed"
          THEN Go(x, "find_page") /\ Remember(x, [of[x] EXCEPT !.left = {}, !.known = done[o]])
          ELSE IF x \in Sweepers \/ Owns(x) THEN Go(x, "find_lines") /\ UNCHANGED of
          ELSE IF of[x].left # {} THEN Go(x, "free") /\ UNCHANGED of
          ELSE Ended(x)
    /\ UNCHANGED <<stored, judged>>

(* What is not committed is undone. *)

undo(x) ==
    /\ at[x] = "undo"
    /\ LET o == of[x].ending
       IN IF Exists(o) /\ Holds("undo: header not committed", header[o] # "committed")
          THEN /\ header' = [header EXCEPT ![o] = "gone"]
               /\ row' = IF IsClosed(o) /\ row["b"].lock = o THEN [row EXCEPT !["b"].lock = Nobody] ELSE row
               /\ Go(x, "find_lines")
               /\ UNCHANGED of
          ELSE UNCHANGED <<header, row>> /\ Ended(x)
    /\ UNCHANGED <<plain, done, lines, content, judged>>

DeletesFirst == "undo: frees before it deletes" \in Dropped

find_lines(x) ==
    /\ at[x] = "find_lines"
    /\ LET found == lines[of[x].ending]
       IN IF found = {} THEN Ended(x)
          ELSE /\ Go(x, IF DeletesFirst \/ found \cap Versioned = {} THEN "delete_lines" ELSE "find_held")
               /\ Remember(x, [of[x] EXCEPT !.found = found])
    /\ UNCHANGED <<stored, judged>>

find_held(x) ==
    /\ at[x] = "find_held"
    /\ LET left == {v \in of[x].found \cap Versioned:
                        ~IsFree(row[v]) /\ Holds("free: locked by this operation", row[v].lock = of[x].ending)}
       IN IF left # {} THEN Go(x, "free") /\ Remember(x, [of[x] EXCEPT !.left = left])
          ELSE IF DeletesFirst THEN Ended(x)
          ELSE Go(x, "delete_lines") /\ UNCHANGED of
    /\ UNCHANGED <<stored, judged>>

free(x) ==
    /\ at[x] = "free"
    /\ LET o == of[x].ending
           v == IF "a" \in of[x].left THEN "a" ELSE "b"
           left == of[x].left \ {v}
       IN /\ row' = IF Holds("free: locked by this operation", row[v].lock = o)
                    THEN [row EXCEPT ![v].lock = Nobody] ELSE row
          /\ IF left # {} THEN UNCHANGED at /\ Remember(x, [of[x] EXCEPT !.left = left])
             ELSE IF of[x].found = {} \/ DeletesFirst THEN Ended(x)
             ELSE Go(x, "delete_lines") /\ Remember(x, [of[x] EXCEPT !.left = {}])
    /\ UNCHANGED <<plain, header, done, lines, content, judged>>

delete_lines(x) ==
    /\ at[x] = "delete_lines"
    /\ lines' = [lines EXCEPT ![of[x].ending] = @ \ of[x].found]
    /\ IF DeletesFirst /\ header[of[x].ending] = "gone" /\ done[of[x].ending] = 0
       THEN Go(x, "find_held") /\ UNCHANGED of
       ELSE Ended(x)
    /\ UNCHANGED <<row, plain, header, done, content, judged>>

(* What is committed is carried out. Its owner has the lines, others read each page. *)

NextPage(x) == IF Owns(x) THEN "apply" ELSE "find_page"

find_page(x) ==
    /\ at[x] = "find_page"
    /\ LET o == of[x].ending
           found == lines[o]
           page == {k \in Pages(o)[of[x].known + 1]: content[o][k] # NoLine}
       IN /\ Go(x, IF found # {} /\ page \subseteq found THEN "apply" ELSE "require_whole")
          /\ Remember(x, [of[x] EXCEPT !.found = found])
    /\ UNCHANGED <<stored, judged>>

require_whole(x) ==
    /\ at[x] = "require_whole"
    /\ LET o == of[x].ending
           is_incomplete == Exists(o) /\ done[o] = of[x].known
       IN /\ Blame(is_incomplete, "a line of a committed operation is missing")
          /\ IF is_incomplete THEN Ended(x) ELSE Go(x, "find_current") /\ UNCHANGED of
    /\ UNCHANGED <<stored, truth, seen>>

find_current(x) ==
    /\ at[x] = "find_current"
    /\ LET o == of[x].ending
       IN IF Exists(o) THEN Go(x, NextPage(x)) /\ Remember(x, [of[x] EXCEPT !.known = done[o]])
          ELSE Go(x, IF Owns(x) THEN "delete_lines" ELSE "find_left") /\ UNCHANGED of
    /\ UNCHANGED <<stored, judged>>

apply(x) ==
    /\ at[x] = "apply"
    /\ LET o == of[x].ending
           n == of[x].known + 1
           page == Pages(o)[n] \cap of[x].found
           is_last == n = Len(Pages(o))
       IN IF Holds("apply: header exists",
                   Exists(o) /\ Holds("apply: done as read", done[o] = of[x].known))
          THEN /\ IF Exists(o)
                  THEN /\ done' = [done EXCEPT ![o] = n]
                       /\ header' = [header EXCEPT ![o] = IF is_last THEN "gone" ELSE @]
                  ELSE UNCHANGED <<done, header>>
               /\ row' = [v \in Versioned |->
                      IF v \in page THEN [ver |-> content[o][v].ver, val |-> content[o][v].val, lock |-> Nobody]
                      ELSE row[v]]
               /\ plain' = [k \in Plain |-> IF k \in page THEN content[o][k].val ELSE plain[k]]
               /\ IF is_last THEN Go(x, IF Owns(x) THEN "delete_lines" ELSE "find_left") /\ UNCHANGED of
                  ELSE Go(x, NextPage(x)) /\ Remember(x, [of[x] EXCEPT !.known = n])
          ELSE Go(x, "find_current") /\ UNCHANGED <<row, plain, header, done, of>>
    /\ UNCHANGED <<lines, content, judged>>

find_left(x) ==
    /\ at[x] = "find_left"
    /\ LET found == lines[of[x].ending]
       IN IF found = {} THEN Ended(x)
          ELSE Go(x, "delete_lines") /\ Remember(x, [of[x] EXCEPT !.found = found])
    /\ UNCHANGED <<stored, judged>>

(* Requests: they read rows, then what these count as, then the set *)

Answer(x, rows, set) ==
    /\ Stop(x)
    /\ Blame(~\E t \in seen[x]: (\A v \in Versioned: rows[v].val = t[v]) /\ (x \in Glancing \/ set = t["p"]),
             "a reader saw what never was")
    /\ seen' = [seen EXCEPT ![x] = {}]
    /\ UNCHANGED truth

(* Once all rows are known: what follows, or, of those who look again, the answer. *)
RowsRead(x, what) ==
    IF what.first # NoRows
    THEN IF Is(what.rows["a"], what.first["a"]) THEN Answer(x, what.first, what.set)
         ELSE /\ Again(x)
              /\ seen' = [seen EXCEPT ![x] = {}]
              /\ UNCHANGED <<truth, wrong>>
    ELSE IF x \in Glancing THEN Answer(x, what.rows, {})
    ELSE /\ IF x \in Creators /\ what.rows["b"].val \cap Early # {} THEN Stop(x)
            ELSE Go(x, IF x \in Creators THEN "create" ELSE "read_set") /\ Remember(x, what)
         /\ UNCHANGED judged

AsRead(x, wanted, first) ==
    [of[x] EXCEPT !.rows = [v \in Versioned |-> IF v \in wanted THEN row[v] ELSE @[v]],
                  !.first = first, !.unsure = {v \in wanted: ~IsFree(row[v])}]

read_rows(x) ==
    /\ x \in Requests /\ at[x] = "read_rows"
    /\ LET what == AsRead(x, Versioned, NoRows)
       IN IF what.unsure # {} THEN Go(x, "read_headers") /\ Remember(x, what)
          ELSE IF x \in Glancing \/ (x \in Creators /\ row["b"].val \cap Early # {}) THEN Stop(x)
          ELSE Go(x, IF x \in Creators THEN "create" ELSE "read_set") /\ Remember(x, what)
    /\ seen' = IF x \in Readers THEN [seen EXCEPT ![x] = {truth}] ELSE seen
    /\ UNCHANGED <<stored, truth, wrong>>

(* At the row alone that answers for the set. *)
look_again(x) ==
    /\ x \in Readers /\ at[x] = "look_again"
    /\ LET what == AsRead(x, {"a"}, of[x].rows)
       IN IF what.unsure # {} THEN Go(x, "read_headers") /\ Remember(x, what) /\ UNCHANGED judged
          ELSE RowsRead(x, what)
    /\ UNCHANGED stored

read_headers(x) ==
    /\ x \in Requests /\ at[x] = "read_headers"
    /\ LET rows == of[x].rows
           missing == {v \in of[x].unsure: ~Exists(rows[v].lock)}
           committed == {v \in of[x].unsure: header[rows[v].lock] = "committed"}
           met == of[x].met \cup {rows[v].lock: v \in committed}
           counted == [v \in Versioned |->
               IF v \in committed /\ "read: counts as the line" \notin Dropped
               THEN [ver |-> content[rows[v].lock][v].ver, val |-> content[rows[v].lock][v].val,
                     lock |-> rows[v].lock]
               ELSE rows[v]]
           unsure == IF "read: header gone, row again" \in Dropped THEN {} ELSE missing
           what == [of[x] EXCEPT !.rows = counted, !.unsure = unsure, !.met = met]
       IN IF met # of[x].met /\ "read: committed, begins again" \notin Dropped
          THEN /\ Go(x, "read_rows")
               /\ Remember(x, [Blank EXCEPT !.met = met])
               /\ seen' = IF x \in Readers THEN [seen EXCEPT ![x] = {}] ELSE seen
               /\ UNCHANGED <<truth, wrong>>
          ELSE IF unsure # {} THEN Go(x, "read_again") /\ Remember(x, what) /\ UNCHANGED judged
          ELSE RowsRead(x, what)
    /\ UNCHANGED stored

read_again(x) ==
    /\ x \in Requests /\ at[x] = "read_again"
    /\ LET again == of[x].unsure
           ended == {v \in again: row[v].lock # of[x].rows[v].lock}
           rows == [v \in Versioned |-> IF v \in again THEN row[v] ELSE of[x].rows[v]]
           what == [of[x] EXCEPT !.rows = rows, !.unsure = {v \in ended: ~IsFree(row[v])}]
       IN IF ~Holds("read: ended meanwhile, begins again", ended = {})
          THEN /\ Again(x)
               /\ seen' = IF x \in Readers THEN [seen EXCEPT ![x] = {}] ELSE seen
               /\ UNCHANGED <<truth, wrong>>
          ELSE IF what.unsure # {} THEN Go(x, "read_headers") /\ Remember(x, what) /\ UNCHANGED judged
          ELSE RowsRead(x, what)
    /\ UNCHANGED stored

SetRead(x, what) ==
    IF x \in Resting /\ ~IsFree(what.rows["b"])
    THEN End(x, what.rows["b"].lock, "read_rows", {"b"})
    ELSE /\ Go(x, IF x \in Writers THEN "write"
                  ELSE IF "read: looks at the owner again" \in Dropped THEN "answer" ELSE "look_again")
         /\ Remember(x, what)

read_set(x) ==
    /\ x \in Writers \cup Readers /\ at[x] = "read_set"
    /\ LET what == [of[x] EXCEPT !.set = plain["p"]]
       IN IF of[x].met = {} THEN SetRead(x, what) ELSE Go(x, "read_lines") /\ Remember(x, what)
    /\ UNCHANGED <<stored, judged>>

read_whole(x) ==
    /\ x \in Writers \cup Readers /\ at[x] = "read_whole"
    /\ LET what == [of[x] EXCEPT !.set = plain["p"]]
       IN IF of[x].met \subseteq of[x].carried THEN SetRead(x, [what EXCEPT !.carried = {}])
          ELSE Go(x, "read_lines") /\ Remember(x, what)
    /\ UNCHANGED <<stored, judged>>

read_lines(x) ==
    /\ x \in Requests /\ at[x] = "read_lines"
    /\ LET laid == {o \in of[x].met \ of[x].carried: "p" \in lines[o]}
           over == IF laid = {} THEN of[x].set ELSE content[CHOOSE o \in laid: TRUE]["p"].val
       IN Go(x, "line_headers") /\ Remember(x, [of[x] EXCEPT !.over = over])
    /\ UNCHANGED <<stored, judged>>

(* Rows are unlocked after all plain lines: then others may change what these were about. *)
Unlocks(o) == \E n \in DOMAIN Pages(o): n <= done[o] /\ Pages(o)[n] \cap Versioned # {}

line_headers(x) ==
    /\ x \in Requests /\ at[x] = "line_headers"
    /\ LET gone == {o \in of[x].met: ~Exists(o)}
           carried == of[x].carried \cup {o \in of[x].met \ gone: Unlocks(o)}
           is_gone == ~Holds("read: header still there, else again", gone = {})
           is_carried == ~Holds("read: no row unlocked yet, else again", carried = of[x].carried)
       IN IF is_gone \/ is_carried
          THEN /\ Go(x, "read_whole")
               /\ Remember(x, [of[x] EXCEPT !.over = {}, !.set = {}, !.met = @ \ gone, !.carried = carried])
          ELSE SetRead(x, [of[x] EXCEPT !.set = of[x].over, !.over = {}, !.carried = {}])
    /\ UNCHANGED <<stored, judged>>

answer(x) ==    \* without a storage call; only where a condition is dropped
    /\ x \in Readers /\ at[x] = "answer"
    /\ Answer(x, of[x].rows, of[x].set)
    /\ UNCHANGED stored

Touched(x) == IF x \in Resting THEN {"a", "b"} ELSE {"a"}

(* Who is refused by a lock ends its operation; anybody who is refused decides again. *)
Refused(x, held) ==
    IF held = {} THEN Again(x)
    ELSE LET v == IF "b" \in held THEN "b" ELSE "a"
         IN End(x, row[v].lock, "read_rows", {v})

write(x) ==
    /\ x \in Writers /\ at[x] = "write"
    /\ LET as_read == of[x].rows
       IN IF \A v \in Touched(x): /\ Holds("write: version as read", Is(row[v], as_read[v]))
                                  /\ Holds("write: row not locked", IsFree(row[v]))
          THEN /\ row' = [row EXCEPT !["a"] = [ver |-> as_read["a"].ver + 1,
                                               val |-> as_read["a"].val \cup {x}, lock |-> @.lock]]
               /\ plain' = [plain EXCEPT !["p"] = of[x].set \cup {x}]
               /\ Becomes([truth EXCEPT !["a"] = @ \cup {x}, !["p"] = @ \cup {x}])
               /\ Blame(\E v \in Touched(x): as_read[v].val # truth[v],
                        "a writer decided from what had changed")
               /\ Stop(x)
          ELSE Refused(x, {v \in Touched(x): ~IsFree(row[v])}) /\ UNCHANGED <<row, plain, judged>>
    /\ UNCHANGED <<header, done, lines, content>>

create(x) ==
    /\ x \in Creators /\ at[x] = "create"
    /\ LET as_read == of[x].rows["b"]
           o == as_read.lock
           beside == IF IsClosed(o) /\ "create: not beside a closed lock" \notin Dropped
                     THEN {Nobody} ELSE {Nobody, o}
           is_right == /\ Holds("create: the right as counted", row["b"].val = as_read.val)
                       /\ Holds("create: no lock, or the one that was read", row["b"].lock \in beside)
       IN IF /\ is_right
             /\ o # Nobody /\ o \notin of[x].met =>
                Holds("create: header still not committed", header[o] # "committed")
          THEN /\ plain' = [plain EXCEPT !["q"] = @ \cup {x}]
               /\ Becomes([truth EXCEPT !["q"] = @ \cup {x}])
               /\ Blame(as_read.val # truth["b"], "something was created by a right that was taken away")
               /\ Stop(x)
          ELSE /\ Refused(x, IF is_right \/ IsFree(row["b"]) THEN {} ELSE {"b"})
               /\ UNCHANGED <<plain, judged>>
    /\ UNCHANGED <<row, header, done, lines, content>>

-------------------------------------------------------------------------------
Ending(x) ==
    \/ scan(x) \/ find_header(x) \/ undo(x) \/ find_lines(x) \/ find_held(x) \/ free(x)
    \/ delete_lines(x) \/ find_page(x) \/ require_whole(x) \/ find_current(x) \/ apply(x)
    \/ find_left(x)

Sweep(x) == x \in Sweepers /\ Ending(x)

Own(x) ==
    \/ OwnerReadsRows(x) \/ OwnerReadsSet(x) \/ begin(x) \/ stage(x) \/ lock(x) \/ commit(x)

Ask(x) ==
    \/ read_rows(x) \/ read_headers(x) \/ read_again(x) \/ read_set(x) \/ read_whole(x) \/ read_lines(x)
    \/ line_headers(x) \/ look_again(x) \/ answer(x) \/ write(x) \/ create(x)

Next == \E x \in Actors: Own(x) \/ Ending(x) \/ Ask(x)

Spec == Init /\ [][Next]_vars
(* Only sweepers are sure to go on: whoever else stops at a step has died there. *)
Swept == Spec /\ \A x \in Sweepers: WF_vars(Sweep(x))
(* Only requests are: whatever they meet was left by somebody who has died, or is slow. *)
Asked == Spec /\ \A x \in Requests: WF_vars(Ending(x) \/ Ask(x))

-------------------------------------------------------------------------------
(* What always holds *)

WhatCountsIsWhatWasCommitted ==
    /\ \A v \in Versioned: CountsAs(v) = truth[v]
    /\ \A k \in Plain: CountsAsPlain(k) = truth[k]

NothingIsDecidedOrShownWrongly == wrong = {}

NothingBelongsToWhatIsDeleted == truth["b"] \cap Early # {} => truth["q"] = {}

(* What is reached and stays, whoever dies *)

IsClean ==
    /\ \A v \in Versioned: IsFree(row[v])
    /\ \A o \in Owners: ~Exists(o) /\ lines[o] = {}

NothingStaysLocked == <>[]IsClean

NobodyWaitsForOthers == \A x \in Requests: <>(at[x] = "end")
===============================================================================
