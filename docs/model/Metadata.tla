------------------------------ MODULE Metadata ------------------------------
(* Shared metadata keys, and items that are encrypted to them: made, expired, rotated, deleted. *)
(* README.md beside this file tells what is modelled, ADR 27 what is decided.                   *)
EXTENDS Naturals, FiniteSets

CONSTANTS
    Keys,
    Items,
    Makers,      \* each makes one key once
    Expirers,    \* each lets one key expire once
    Deleters,    \* each deletes one key once
    Describers,  \* each encrypts one item to a key once: makes it, or changes it
    Rotators,    \* each rotates one item to another key once
    Givers,      \* each gives a copy of one key once
    Dropped      \* the conditions that this run does without

Actors == Makers \cup Expirers \cup Deleters \cup Describers \cup Rotators \cup Givers
None == "none"
States == {"none", "active", "expired", "deleted"}

VARIABLES
    state,      \* of each key
    ver,        \* of each key: the version of its row
    set,        \* the version of the set of keys
    copies,     \* of each key: how many copies there are
    of,         \* of each item: the key it is encrypted to
    iver,       \* of each item: its version
    uses,       \* which items are noted with which key
    at,         \* of each actor: its next step
    wants,      \* of each actor: the key, and the item
    read,       \* of each actor: what it has read
    wrong       \* who wrote what would be decided otherwise

vars == <<state, ver, set, copies, of, iver, uses, at, wants, read, wrong>>
rows == <<state, ver, set, copies, of, iver, uses>>

Holds(condition, is_true) == condition \in Dropped \/ is_true
StateOf(s, k) == IF k = None THEN "none" ELSE s[k]
Active(s) == {k \in Keys : s[k] = "active"}

Seen == [state |-> state, ver |-> ver, set |-> set, copies |-> copies,
         of |-> of, iver |-> iver, uses |-> uses]

(* The version of the set, and the key, are looked at before the rest is read. *)

Look(x) ==
    /\ at[x] = "look"
    /\ \E k \in Keys, i \in Items : wants' = [wants EXCEPT ![x] = [key |-> k, item |-> i]]
    /\ read' = [read EXCEPT ![x] = Seen]
    /\ at' = [at EXCEPT ![x] = "read"]
    /\ UNCHANGED <<rows, wrong>>

(* A deletion reads what uses the key; what it knows of the key itself is from before that. *)

Read(x) ==
    /\ at[x] = "read"
    /\ read' = [read EXCEPT ![x] =
        IF x \in Deleters
        THEN IF "delete: the key before its uses" \in Dropped
             THEN [@ EXCEPT !.state = state, !.ver = ver]
             ELSE [@ EXCEPT !.of = of, !.uses = uses]
        ELSE [Seen EXCEPT !.ver = read[x].ver, !.set = read[x].set]]
    /\ at' = [at EXCEPT ![x] = "write"]
    /\ UNCHANGED <<rows, wants, wrong>>

Done(x) == at' = [at EXCEPT ![x] = "done"] /\ UNCHANGED <<wants, read>>
Refused == UNCHANGED <<rows, wrong>>

Make(x) ==
    LET k == wants[x].key  r == read[x]
    IN IF r.state[k] # "none" \/ Cardinality(Active(r.state)) > 1
          \/ ~Holds("make: the set as read", set = r.set)
       THEN Refused
       ELSE /\ state' = [state EXCEPT ![k] = "active"]
            /\ set' = set + 1
            /\ UNCHANGED <<ver, copies, of, iver, uses, wrong>>

Expire(x) ==
    LET k == wants[x].key  r == read[x]
    IN IF r.state[k] # "active" \/ ver[k] # r.ver[k] \/ state[k] # "active"
       THEN Refused
       ELSE /\ state' = [state EXCEPT ![k] = "expired"]
            /\ ver' = [ver EXCEPT ![k] = @ + 1]
            /\ set' = set + 1
            /\ UNCHANGED <<copies, of, iver, uses, wrong>>

Delete(x) ==
    LET k == wants[x].key  r == read[x]
        used == {u \in r.uses : u[1] = k /\ r.of[u[2]] = k}
    IN IF ~(Holds("delete: only what has expired", r.state[k] = "expired")
            /\ r.state[k] \in {"active", "expired"} /\ state[k] # "deleted")
          \/ ~Holds("delete: nothing uses it", used = {})
       THEN Refused
       ELSE /\ state' = [state EXCEPT ![k] = "deleted"]
            /\ ver' = [ver EXCEPT ![k] = @ + 1]
            /\ set' = set + 1
            /\ copies' = [copies EXCEPT ![k] = 0]
            /\ UNCHANGED <<of, iver, uses, wrong>>

Noted(i, k) ==
    IF "describe: the item is noted with its key" \in Dropped THEN uses
    ELSE (uses \ {<<of[i], i>>}) \cup {<<k, i>>}

Describe(x) ==
    LET k == wants[x].key  i == wants[x].item  r == read[x]
    IN IF r.state[k] # "active"
          \/ ~Holds("describe: the key has not expired", state[k] = "active")
          \/ ~Holds("describe: the item as read", iver[i] = r.iver[i])
       THEN Refused
       ELSE /\ of' = [of EXCEPT ![i] = k]
            /\ iver' = [iver EXCEPT ![i] = @ + 1]
            /\ uses' = Noted(i, k)
            /\ wrong' = IF iver[i] # r.iver[i] THEN wrong \cup {x} ELSE wrong
            /\ UNCHANGED <<state, ver, set, copies>>

Rotate(x) ==
    LET k == wants[x].key  i == wants[x].item  r == read[x]  old == r.of[i]
    IN IF Active(r.state) # {k} \/ StateOf(r.state, old) # "expired"
          \/ ~Holds("rotate: the set as read", set = r.set)
          \/ ~Holds("rotate: the item as read", iver[i] = r.iver[i])
       THEN Refused
       ELSE /\ of' = [of EXCEPT ![i] = k]
            /\ iver' = [iver EXCEPT ![i] = @ + 1]
            /\ uses' = (uses \ {<<of[i], i>>}) \cup {<<k, i>>}
            /\ wrong' = IF iver[i] # r.iver[i] \/ Active(state) # {k}
                        THEN wrong \cup {x} ELSE wrong
            /\ UNCHANGED <<state, ver, set, copies>>

Give(x) ==
    LET k == wants[x].key  r == read[x]
    IN IF r.state[k] \notin {"active", "expired"} \/ r.copies[k] > 0
          \/ ~Holds("give: the key as read", ver[k] = r.ver[k])
       THEN Refused
       ELSE /\ copies' = [copies EXCEPT ![k] = @ + 1]
            /\ ver' = [ver EXCEPT ![k] = @ + 1]
            /\ UNCHANGED <<state, set, of, iver, uses, wrong>>

Write(x) ==
    /\ at[x] = "write"
    /\ CASE x \in Makers -> Make(x)
         [] x \in Expirers -> Expire(x)
         [] x \in Deleters -> Delete(x)
         [] x \in Describers -> Describe(x)
         [] x \in Rotators -> Rotate(x)
         [] OTHER -> Give(x)
    /\ Done(x)

Init ==
    /\ state \in [Keys -> States]
    /\ Cardinality(Active(state)) <= 2
    /\ of \in [Items -> Keys \cup {None}]
    /\ \A i \in Items : (of[i] = None) = (StateOf(state, of[i]) \in {"none", "deleted"})
    /\ ver = [k \in Keys |-> 1] /\ set = 1
    /\ copies = [k \in Keys |-> 0]
    /\ iver = [i \in Items |-> 1]
    /\ uses = {<<of[i], i>> : i \in {j \in Items : of[j] # None}}
    /\ at = [x \in Actors |-> "look"]
    /\ wants = [x \in Actors |-> [key |-> None, item |-> None]]
    /\ read = [x \in Actors |-> Seen]
    /\ wrong = {}

Next == \E x \in Actors : Look(x) \/ Read(x) \/ Write(x)
Spec == Init /\ [][Next]_vars

(* What must hold. *)

NothingIsOnADeletedKey == \A i \in Items : StateOf(state, of[i]) # "deleted"
AtMostTwoAreActive == Cardinality(Active(state)) <= 2
NoCopyOfADeletedKey == \A k \in Keys : state[k] = "deleted" => copies[k] = 0
EachHasOneCopy == \A k \in Keys : copies[k] <= 1
NothingIsWrittenOver == wrong = {}
=============================================================================
