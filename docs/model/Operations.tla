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
    Sweepers,   \* end whatever operation they find, again and again
    InCommit,   \* the rows whose locks a changer takes in the commit itself
    Dropped     \* the conditions that this run does without

Versioned == {"a", "b"}
Plain == {"p", "q"}                     \* p belongs to a, q to b
Rows == Versioned \cup Plain
Owners == Changers \cup Early
Requests == Writers \cup Creators \cup Readers
Actors == Owners \cup Requests \cup Sweepers

Nobody == "nobody"
Free == [op |-> Nobody, closed |-> FALSE]
NoLine == [ver |-> 0, val |-> {Nobody}]

VARIABLES
    row,        \* of each versioned row: version, value, lock
    plain,      \* of each plain row: its value; {} where there is none
    header,     \* of each operation: none, pending, committed, gone
    done,       \* of each operation: how many lines are applied
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
IsFree(r) == r.lock = Free

Blank == [rows |-> [v \in Versioned |-> [ver |-> 0, val |-> {}, lock |-> Free]],
          set |-> {}, gone |-> {}, committed |-> {},
          ending |-> Nobody, then |-> "end", found |-> {}, left |-> {}, known |-> 0,
          applies |-> FALSE]

(* The steps of those who own an operation, in order. *)

Plan(o) ==
    IF o \in Changers
    THEN LET locks == SelectSeq(<<"lock_a", "lock_b">>,
                                LAMBDA s: ~(s = "lock_a" /\ "a" \in InCommit)
                                       /\ ~(s = "lock_b" /\ "b" \in InCommit))
             prepared == IF "stage: before the locks" \in Dropped
                         THEN <<"begin">> \o locks \o <<"stage">>
                         ELSE IF "begin: before the lines" \in Dropped
                         THEN <<"stage", "begin">> \o locks
                         ELSE <<"begin", "stage">> \o locks
         IN <<"read_rows", "read_set">> \o prepared \o <<"commit", "end">>
    ELSE IF "early: locks before it reads" \in Dropped
    THEN <<"read_rows", "read_set", "begin", "stage_first", "lock_b", "stage", "lock_a",
           "commit", "end">>
    ELSE <<"read_rows", "begin", "stage_first", "lock_b", "read_set", "stage", "lock_a",
           "commit", "end">>

After(o, step) ==
    LET plan == Plan(o)
        n == CHOOSE n \in DOMAIN plan: plan[n] = step
    IN plan[n + 1]

Order(o) ==
    LET whole == IF o \in Early THEN <<"q", "a", "b">>
                 ELSE IF "apply: unlocks last" \in Dropped THEN <<"a", "p", "b">>
                 ELSE <<"p", "a", "b">>
    IN SelectSeq(whole, LAMBDA k: content[o][k] # NoLine)

(* What rows count as, to who sees all of the storage at once. *)

CountsAs(v) ==
    LET o == row[v].lock.op
    IN IF o # Nobody /\ header[o] = "committed" THEN content[o][v].val ELSE row[v].val

CountsAsPlain(k) ==
    LET due == {o \in Owners: /\ header[o] = "committed"
                              /\ \E n \in DOMAIN Order(o): Order(o)[n] = k /\ n > done[o]}
    IN IF due = {} THEN plain[k] ELSE content[CHOOSE o \in due: TRUE][k].val

-------------------------------------------------------------------------------
Init ==
    /\ row = [v \in Versioned |-> [ver |-> 1, val |-> {}, lock |-> Free]]
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
Forget(x) == Remember(x, Blank)
Stop(x) == Go(x, "end") /\ Forget(x)
Again(x) == Go(x, "read_rows") /\ Forget(x)

End(x, o, then, met) ==
    /\ Go(x, "find_header")
    /\ Remember(x, [Blank EXCEPT !.ending = o, !.then = then, !.left = met])

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
               IN End(o, row[v].lock.op, "read_rows", {})
          ELSE Go(o, After(o, "read_rows")) /\ Remember(o, [Blank EXCEPT !.rows = row])
    /\ UNCHANGED <<stored, judged>>

OwnerReadsSet(o) ==
    /\ o \in Owners /\ at[o] = "read_set"
    /\ Remember(o, [of[o] EXCEPT !.set = plain[IF o \in Early THEN "q" ELSE "p"]])
    /\ Go(o, After(o, "read_set"))
    /\ UNCHANGED <<stored, judged>>

begin(o) ==
    /\ o \in Owners /\ at[o] = "begin"
    /\ header' = [header EXCEPT ![o] = "pending"]
    /\ Go(o, After(o, "begin"))
    /\ UNCHANGED <<row, plain, done, lines, content, of, judged>>

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
    /\ o \in Owners /\ at[o] \in {"stage_first", "stage"}
    /\ LET all == Staged(o)
           now == IF at[o] = "stage_first"
                  THEN [k \in Rows |-> IF k = "b" THEN all[k] ELSE NoLine]
                  ELSE all
       IN /\ content' = [content EXCEPT ![o] = now]
          /\ lines' = [lines EXCEPT ![o] = @ \cup {k \in Rows: now[k] # NoLine /\ content[o][k] = NoLine}]
    /\ Go(o, After(o, at[o]))
    /\ UNCHANGED <<row, plain, header, done, of, judged>>

Locked(o, v) == [row[v] EXCEPT !.lock = [op |-> o, closed |-> o \in Early /\ v = "b"]]

lock(o) ==
    /\ o \in Owners /\ at[o] \in {"lock_a", "lock_b"}
    /\ LET v == IF at[o] = "lock_a" THEN "a" ELSE "b"
       IN IF /\ Holds("lock: header exists", Exists(o))
             /\ Holds("lock: header not committed", header[o] # "committed")
             /\ Holds("lock: version as read", Is(row[v], of[o].rows[v]))
             /\ Holds("lock: row not locked", IsFree(row[v]))
          THEN /\ row' = [row EXCEPT ![v] = Locked(o, v)]
               /\ Go(o, After(o, at[o]))
               /\ UNCHANGED of
          ELSE End(o, o, "end", {}) /\ UNCHANGED row
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
    LET taken == IF o \in Changers THEN InCommit ELSE {}
    IN
    /\ o \in Owners /\ at[o] = "commit"
    /\ IF /\ Holds("commit: header exists", Exists(o))
          /\ Holds("commit: header not committed", header[o] # "committed")
          /\ \A v \in taken: Holds("commit: version as read", Is(row[v], of[o].rows[v]))
          /\ \A v \in taken: Holds("commit: row not locked", IsFree(row[v]))
       THEN /\ header' = [header EXCEPT ![o] = "committed"]
            /\ row' = [v \in Versioned |-> IF v \in taken THEN Locked(o, v) ELSE row[v]]
            /\ Becomes(Outcome(o))
            /\ Blame(IsStale(o), "an operation was decided from what had changed")
            /\ Go(o, "apply")
            /\ Remember(o, [Blank EXCEPT !.ending = o, !.found = {k \in Rows: content[o][k] # NoLine},
                                         !.applies = TRUE])
       ELSE End(o, o, "end", {}) /\ UNCHANGED <<row, header, judged>>
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
       IN IF header[o] = "pending" THEN Go(x, "undo") /\ UNCHANGED of
          ELSE /\ Go(x, "find_lines")
               /\ Remember(x, [of[x] EXCEPT !.applies = header[o] = "committed", !.known = done[o]])
    /\ UNCHANGED <<stored, judged>>

undo(x) ==
    /\ at[x] = "undo"
    /\ LET o == of[x].ending
       IN IF Exists(o) /\ Holds("undo: header not committed", header[o] # "committed")
          THEN header' = [header EXCEPT ![o] = "gone"] /\ Go(x, "find_lines")
          ELSE UNCHANGED header /\ Go(x, "find_header")
    /\ UNCHANGED <<row, plain, done, lines, content, of, judged>>

AfterFreeing == IF "undo: frees before it deletes" \in Dropped THEN "closing" ELSE "delete_lines"

find_lines(x) ==
    /\ at[x] = "find_lines"
    /\ LET o == of[x].ending
           found == lines[o]
           left == of[x].left \cup (found \cap Versioned)
       IN IF of[x].applies
          THEN Go(x, "apply") /\ Remember(x, [of[x] EXCEPT !.found = found])
          ELSE /\ Remember(x, [of[x] EXCEPT !.found = found, !.left = left])
               /\ IF left # {} /\ "undo: frees before it deletes" \notin Dropped THEN Go(x, "free")
                  ELSE Go(x, "delete_lines")
    /\ UNCHANGED <<stored, judged>>

apply(x) ==
    /\ at[x] = "apply"
    /\ LET o == of[x].ending
           order == Order(o)
           n == of[x].known + 1
           k == order[n]
           is_last == n = Len(order)
       IN IF Holds("apply: header exists",
                   Exists(o) /\ Holds("apply: done as read", done[o] = of[x].known))
          THEN /\ IF Exists(o)
                  THEN /\ done' = [done EXCEPT ![o] = n]
                       /\ header' = [header EXCEPT ![o] = IF is_last THEN "gone" ELSE @]
                  ELSE UNCHANGED <<done, header>>
               /\ IF k \in of[x].found /\ k \in Versioned
                  THEN /\ row' = [row EXCEPT ![k] = [ver |-> content[o][k].ver,
                                                     val |-> content[o][k].val, lock |-> Free]]
                       /\ UNCHANGED plain
                  ELSE /\ UNCHANGED row
                       /\ plain' = IF k \in of[x].found THEN [plain EXCEPT ![k] = content[o][k].val]
                                   ELSE plain
               /\ IF is_last THEN Go(x, "delete_lines") /\ UNCHANGED of
                  ELSE UNCHANGED at /\ Remember(x, [of[x] EXCEPT !.known = n])
          ELSE Go(x, "find_header") /\ UNCHANGED <<row, plain, header, done, of>>
    /\ UNCHANGED <<lines, content, judged>>

Ended(x) == IF of[x].then = "end" THEN Stop(x) ELSE Go(x, of[x].then) /\ Forget(x)

free(x) ==
    /\ at[x] = "free"
    /\ LET o == of[x].ending
           v == IF "a" \in of[x].left THEN "a" ELSE "b"
           left == of[x].left \ {v}
       IN /\ row' = IF Holds("free: locked by this operation", row[v].lock.op = o)
                    THEN [row EXCEPT ![v].lock = Free] ELSE row
          /\ IF left # {} THEN UNCHANGED at /\ Remember(x, [of[x] EXCEPT !.left = left])
             ELSE IF "undo: frees before it deletes" \in Dropped THEN Ended(x)
             ELSE Go(x, "delete_lines") /\ Remember(x, [of[x] EXCEPT !.left = {}])
    /\ UNCHANGED <<plain, header, done, lines, content, judged>>

delete_lines(x) ==
    /\ at[x] = "delete_lines"
    /\ lines' = [lines EXCEPT ![of[x].ending] = @ \ of[x].found]
    /\ IF of[x].left # {} THEN Go(x, "free") /\ UNCHANGED of ELSE Ended(x)
    /\ UNCHANGED <<row, plain, header, done, content, judged>>

(* Requests: they read rows, then what these count as, then the set *)

Counted(x) == IF x \in Creators THEN "create" ELSE "read_set"
SetRead(x) == IF x \in Writers THEN "write"
              ELSE IF "read: looks at the owner again" \in Dropped THEN "answer" ELSE "look_again"

Met(read, x) == {read[v].lock.op: v \in Versioned} \ ({Nobody} \cup of[x].gone)

read_rows(x) ==
    /\ x \in Requests /\ at[x] = "read_rows"
    /\ Remember(x, [of[x] EXCEPT !.rows = row])
    /\ Go(x, IF Met(row, x) = {} THEN Counted(x) ELSE "read_headers")
    /\ seen' = IF x \in Readers THEN [seen EXCEPT ![x] = {truth}] ELSE seen
    /\ UNCHANGED <<stored, truth, wrong>>

read_headers(x) ==
    /\ x \in Requests /\ at[x] = "read_headers"
    /\ LET met == Met(of[x].rows, x)
           missing == {o \in met: ~Exists(o)}
           committed == {o \in met: header[o] = "committed"}
           news == {o \in committed \ of[x].committed: \E v \in Versioned: of[x].rows[v].lock.op # o}
           as_counted == [v \in Versioned |->
               IF of[x].rows[v].lock.op \in committed /\ "read: counts as the line" \notin Dropped
               THEN [ver |-> content[of[x].rows[v].lock.op][v].ver,
                     val |-> content[of[x].rows[v].lock.op][v].val, lock |-> of[x].rows[v].lock]
               ELSE of[x].rows[v]]
       IN IF missing # {} /\ "read: header gone, row again" \notin Dropped
          THEN /\ Go(x, "read_rows")
               /\ Remember(x, [of[x] EXCEPT !.gone = @ \cup missing, !.rows = Blank.rows])
          ELSE IF news # {} /\ "read: header committed, other rows again" \notin Dropped
          THEN /\ Go(x, "read_rows")
               /\ Remember(x, [of[x] EXCEPT !.committed = @ \cup committed, !.rows = Blank.rows])
          ELSE IF x \in Creators /\ as_counted["b"].lock.closed
                  /\ "create: ends a closed lock" \notin Dropped
          THEN End(x, as_counted["b"].lock.op, "read_rows", {"b"})
          ELSE /\ Go(x, Counted(x))
               /\ Remember(x, [of[x] EXCEPT !.rows = as_counted, !.committed = committed])
    /\ UNCHANGED <<stored, judged>>

OverSet(x) == of[x].rows["a"].lock.op \in of[x].committed

read_set(x) ==
    /\ x \in Writers \cup Readers /\ at[x] = "read_set"
    /\ Remember(x, [of[x] EXCEPT !.set = plain["p"]])
    /\ Go(x, IF OverSet(x) THEN "read_lines" ELSE SetRead(x))
    /\ UNCHANGED <<stored, judged>>

read_lines(x) ==
    /\ x \in Requests /\ at[x] = "read_lines"
    /\ LET o == of[x].rows["a"].lock.op
       IN IF Holds("read: header still there, else again", Exists(o))
          THEN /\ Remember(x, [of[x] EXCEPT !.set = IF "p" \in lines[o] THEN content[o]["p"].val ELSE @])
               /\ Go(x, SetRead(x))
          ELSE Again(x)
    /\ UNCHANGED <<stored, judged>>

Answer(x) ==
    /\ Stop(x)
    /\ Blame(~\E t \in seen[x]: /\ of[x].rows["a"].val = t["a"] /\ of[x].rows["b"].val = t["b"]
                                /\ of[x].set = t["p"],
             "a reader saw what never was")
    /\ seen' = [seen EXCEPT ![x] = {}]
    /\ UNCHANGED truth

AnswerIf(x, is_same) ==
    IF is_same THEN Answer(x)
    ELSE Again(x) /\ seen' = [seen EXCEPT ![x] = {}] /\ UNCHANGED <<truth, wrong>>

look_again(x) ==
    /\ x \in Readers /\ at[x] = "look_again"
    /\ LET o == row["a"].lock.op
       IN IF o # Nobody /\ o \notin of[x].gone
          THEN /\ Go(x, "headers_again")
               /\ Remember(x, [of[x] EXCEPT !.known = row["a"].ver, !.ending = o])
               /\ UNCHANGED judged
          ELSE AnswerIf(x, Is(row["a"], of[x].rows["a"]))
    /\ UNCHANGED stored

headers_again(x) ==
    /\ x \in Readers /\ at[x] = "headers_again"
    /\ LET o == of[x].ending
           ver == IF header[o] = "committed" THEN content[o]["a"].ver ELSE of[x].known
       IN IF Exists(o) THEN AnswerIf(x, ver = of[x].rows["a"].ver)
          ELSE /\ Go(x, "look_again")
               /\ Remember(x, [of[x] EXCEPT !.gone = @ \cup {o}, !.known = 0, !.ending = Nobody])
               /\ UNCHANGED judged
    /\ UNCHANGED stored

answer(x) ==    \* without a storage call; only where a condition is dropped
    /\ x \in Readers /\ at[x] = "answer"
    /\ Answer(x)
    /\ UNCHANGED stored

Touched(x) == {"a"} \cup (IF x \in Writers \ Resting THEN {} ELSE {"b"})

Refused(x) ==
    LET met == {of[x].rows[v].lock.op: v \in Versioned} \ {Nobody}
    IN IF met = {} THEN Again(x)
       ELSE LET o == CHOOSE o \in met: TRUE
            IN End(x, o, "read_rows",
                   IF "write: removes the lock it met" \in Dropped THEN {}
                   ELSE {v \in Versioned: of[x].rows[v].lock.op = o})

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
          ELSE Refused(x) /\ UNCHANGED <<row, plain, judged>>
    /\ UNCHANGED <<header, done, lines, content>>

create(x) ==
    /\ x \in Creators /\ at[x] = "create"
    /\ LET as_read == of[x].rows["b"]
           o == as_read.lock.op
           was == o \in of[x].committed
       IN IF as_read.val \cap Early # {} THEN Stop(x) /\ UNCHANGED <<plain, judged>>
          ELSE IF /\ Holds("create: the right as counted", row["b"].val = as_read.val)
                  /\ Holds("create: no lock, or the one that was read", row["b"].lock.op \in {Nobody, o})
                  /\ o # Nobody /\ ~was =>
                     Holds("create: header still not committed", header[o] # "committed")
                  /\ o # Nobody /\ was =>
                     Holds("create: header still committed", header[o] = "committed")
          THEN /\ plain' = [plain EXCEPT !["q"] = @ \cup {x}]
               /\ Becomes([truth EXCEPT !["q"] = @ \cup {x}])
               /\ Blame(as_read.val # truth["b"], "something was created by a right that was taken away")
               /\ Stop(x)
          ELSE Refused(x) /\ UNCHANGED <<plain, judged>>
    /\ UNCHANGED <<row, header, done, lines, content>>

-------------------------------------------------------------------------------
Sweep(x) == x \in Sweepers /\ (scan(x) \/ find_header(x) \/ undo(x) \/ find_lines(x) \/ apply(x)
                               \/ free(x) \/ delete_lines(x))

Next ==
    \E x \in Actors:
        \/ OwnerReadsRows(x) \/ OwnerReadsSet(x) \/ begin(x) \/ stage(x) \/ lock(x) \/ commit(x)
        \/ scan(x) \/ find_header(x) \/ undo(x) \/ find_lines(x) \/ apply(x) \/ free(x)
        \/ delete_lines(x)
        \/ read_rows(x) \/ read_headers(x) \/ read_set(x) \/ read_lines(x) \/ look_again(x)
        \/ headers_again(x) \/ answer(x) \/ write(x) \/ create(x)

Spec == Init /\ [][Next]_vars
(* Only sweepers are sure to go on: whoever else stops at a step has died there. *)
Swept == Spec /\ \A x \in Sweepers: WF_vars(Sweep(x))

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
===============================================================================
