------------------------------- MODULE Trees -------------------------------
(* Everybody's own tree over shared things: moves, and items that are given and taken.  *)
(* README.md beside this file tells what is modelled, ADR 26 what is decided.           *)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
    Folders,
    Things,     \* items that are no folders
    Users,
    Movers,     \* each moves one item once
    Givers,     \* each gives one item to somebody once
    Grown,      \* whether things may lie anywhere at first; else all is at the root
    Takers,     \* each takes one item from somebody once
    Dropped     \* the conditions that this run does without

Items == Folders \cup Things
Actors == Movers \cup Givers \cup Takers
Root == "root"
Nothing == [item |-> Root, to |-> Root, who |-> Root, by |-> Root]

VARIABLES
    has,        \* of each item: who has it
    place,      \* of each item and user: the folder that their holding names
    ver,        \* of each item: its version
    structure,  \* the version of the structure of folders
    at,         \* of each actor: its next step
    wants,      \* of each actor: what it is to do
    read,       \* of each actor: what it has read
    wrong       \* what was written and would be decided otherwise

vars == <<has, place, ver, structure, at, wants, read, wrong>>

Holds(condition, is_true) == condition \in Dropped \/ is_true

(* Where a user has an item, by what their holdings say. *)
Lies(h, p, i, u) ==
    IF p[i][u] # Root /\ Holds("place: only in a folder that is held", u \in h[p[i][u]])
    THEN p[i][u] ELSE Root

RECURSIVE Up(_, _, _, _, _)
Up(h, p, f, u, n) ==
    IF n = 0 THEN f
    ELSE IF f = Root THEN Root ELSE Up(h, p, Lies(h, p, f, u), u, n - 1)

InItself(h, p, u) ==
    \E f \in Folders : u \in h[f] /\ \E n \in 1..Cardinality(Folders) : Up(h, p, f, u, n) = f

(* What becomes of places, given who has what and where. *)

Both(h, i, d) == h[i] \cap h[d]
Left(h, p, i, d) == {Lies(h, p, i, u) : u \in Both(h, i, d)} \ {Root}

Moved(h, p, want) ==
    LET i == want.item  d == want.to
        origin == Lies(h, p, i, want.by)
        here == IF d = Root THEN {origin} \ {Root} ELSE Left(h, p, i, d)
        new(u) == IF d # Root /\ u \in Both(h, i, d) THEN d
                  ELSE IF u \in h[i] /\ Lies(h, p, i, u) \in here THEN Root
                  ELSE p[i][u]
    IN [p EXCEPT ![i] = [u \in Users |-> new(u)]]

Given(h, p, want) ==
    LET i == want.item  u == want.who
        above == Lies(h, p, i, want.by)
        inside == {c \in Items \ {i} : u \in h[c] /\ i \in Folders /\ Lies(h, p, c, want.by) = i}
        left == IF "give: what was left there goes to the root" \in Dropped THEN {}
                ELSE {c \in Items \ {i} : p[c][u] = i}
        new(c) == IF c = i THEN (IF above # Root /\ u \in h[above] THEN above ELSE Root)
                  ELSE IF c \in inside THEN i
                  ELSE IF c \in left THEN Root ELSE p[c][u]
    IN [c \in Items |-> [p[c] EXCEPT ![u] = new(c)]]

Taken(h, p, want) == [p EXCEPT ![want.item][want.who] = Root]

Decided(x, h, p) ==
    CASE x \in Movers -> Moved(h, p, wants[x])
      [] x \in Givers -> Given(h, p, wants[x])
      [] OTHER -> Taken(h, p, wants[x])

Having(x, h) ==
    CASE x \in Givers -> [h EXCEPT ![wants[x].item] = @ \cup {wants[x].who}]
      [] x \in Takers -> [h EXCEPT ![wants[x].item] = @ \ {wants[x].who}]
      [] OTHER -> h

(* The items whose versions a change holds and raises, as it has read them. *)

Around(h, p, i) == {Lies(h, p, i, u) : u \in h[i]} \ {Root}
Changed(x, h, p) == {c \in Items : Decided(x, h, p)[c] # p[c]}

Rests(x) ==
    LET h == read[x].has  p == read[x].place  i == wants[x].item
    IN CASE x \in Movers -> {i} \cup ({wants[x].to} \ {Root}) \cup Around(h, p, i)
         [] x \in Givers -> {i} \cup Around(h, p, i) \cup Changed(x, h, p)
         [] OTHER -> {i}

IsOfFolders(x) == wants[x].item \in Folders /\ x \notin Takers

Kind(x) == IF x \in Movers THEN "move" ELSE IF x \in Givers THEN "give" ELSE "take"

Unchanged(x) ==
    /\ \A i \in Rests(x) :
        LET name == IF i = wants[x].item THEN ": the item as read" ELSE ": what is around it as read"
        IN Holds(Kind(x) \o name, ver[i] = read[x].ver[i])
    /\ IsOfFolders(x) => Holds("folders: the structure as read", structure = read[x].structure)

(* An actor chooses, looks at versions, then reads the rest, and writes if all is as it was. *)

CanMove(want) ==
    /\ want.by \in has[want.item]
    /\ want.to # want.item
    /\ want.to = Root \/ want.by \in has[want.to]

Wants(x) ==
    LET all == [item : Items, to : Folders \cup {Root}, who : Users, by : Users]
    IN CASE x \in Movers -> {w \in all : w.who = w.by /\ CanMove(w)}
         [] x \in Givers -> {w \in all : w.to = Root /\ w.by \in has[w.item] /\ w.who \notin has[w.item]}
         [] OTHER -> {w \in all : w.to = Root /\ w.by # w.who /\ {w.who, w.by} \subseteq has[w.item]}

Look(x) ==
    /\ at[x] = "look"
    /\ \E want \in Wants(x) : wants' = [wants EXCEPT ![x] = want]
    /\ read' = [read EXCEPT ![x] = [has |-> has, place |-> place, ver |-> ver, structure |-> structure]]
    /\ at' = [at EXCEPT ![x] = "read"]
    /\ UNCHANGED <<has, place, ver, structure, wrong>>

Read(x) ==
    /\ at[x] = "read"
    /\ read' = [read EXCEPT ![x].has = has, ![x].place = place]
    /\ at' = [at EXCEPT ![x] = "write"]
    /\ UNCHANGED <<has, place, ver, structure, wants, wrong>>

Write(x) ==
    /\ at[x] = "write"
    /\ at' = [at EXCEPT ![x] = "done"]
    /\ LET new == Decided(x, read[x].has, read[x].place)
           after == Having(x, read[x].has)
           cells == {c \in Items \X Users : new[c[1]][c[2]] # read[x].place[c[1]][c[2]]}
           known == [c \in Items |-> [u \in Users |-> IF <<c, u>> \in cells THEN new[c][u]
                        ELSE Lies(read[x].has, read[x].place, c, u)]]
           closes == IsOfFolders(x) /\ \E u \in Users : InItself(after, known, u)
           written == [c \in Items |-> [u \in Users |-> IF <<c, u>> \in cells THEN new[c][u] ELSE place[c][u]]]
       IN IF closes \/ ~Unchanged(x)
          THEN UNCHANGED <<has, place, ver, structure, wrong>>
          ELSE /\ place' = written
               /\ has' = Having(x, has)
               /\ ver' = [i \in Items |-> IF i \in Rests(x) THEN ver[i] + 1 ELSE ver[i]]
               /\ structure' = structure + (IF IsOfFolders(x) THEN 1 ELSE 0)
               /\ wrong' = IF \E i \in Items : \E u \in Having(x, has)[i] :
                              Lies(Having(x, has), written, i, u)
                              # Lies(Having(x, has), Decided(x, has, place), i, u)
                           THEN wrong \cup {x} ELSE wrong
    /\ UNCHANGED <<wants, read>>

Init ==
    /\ has \in [Items -> {{"w"}, Users}]    \* w has everything at first
    /\ place \in IF Grown THEN [Items -> [Users -> Folders \cup {Root}]]
                ELSE {[i \in Items |-> [u \in Users |-> Root]]}
    /\ \A u \in Users : ~InItself(has, place, u)
    /\ \A i \in Items, u \in Users : place[i][u] # Root => u \in has[i] \cap has[place[i][u]]
    /\ ver = [i \in Items |-> 1]
    /\ structure = 1
    /\ at = [x \in Actors |-> "look"]
    /\ wants = [x \in Actors |-> Nothing]
    /\ read = [x \in Actors |-> [has |-> has, place |-> place, ver |-> ver, structure |-> structure]]
    /\ wrong = {}

Next == \E x \in Actors : Look(x) \/ Read(x) \/ Write(x)
Spec == Init /\ [][Next]_vars

(* What must hold. *)

NothingLiesInItself == \A u \in Users : ~InItself(has, place, u)
ParentsAreSeen ==
    \A i \in Items : \A u \in has[i] : Lies(has, place, i, u) = Root \/ u \in has[Lies(has, place, i, u)]
NothingIsDecidedWrongly == wrong = {}
OnlyWhoHasItHasAPlace == \A i \in Items : \A u \in Users \ has[i] : place[i][u] = Root
=============================================================================
