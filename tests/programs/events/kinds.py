"""Calls of every kind by mpi4py, whose MPI is loaded by dlopen, of buffers and of pickled objects. Prints what it has done, as it
counts itself, as tally.h does."""

import sys
import threading
from collections import defaultdict

from mpi4py import MPI

RECENT = MPI.Get_version() >= (4, 0)
world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
right, left = (rank + 1) % size, (rank - 1) % size
tallies = defaultdict(lambda: [0, 0])


def tally(what, length=0, times=1):
    tallies[what][0] += times
    tallies[what][1] += times * length


def together(what, given, got, times=1):
    """Something that all do together: bytes given and got in each are told apart."""
    tally(what, given, times)
    tally("got", got, times)


def room(length=4000):
    """A buffer of so many bytes, as those that send and receive want it."""
    return [bytearray(length), MPI.BYTE]


def pickled(thing):
    return len(MPI.pickle.dumps(thing))


def messages():
    """Blocking messages of every kind, round a ring."""
    status = MPI.Status()
    for length in range(0, 9000, 4000):
        for turn in range(2):
            if rank % 2 == turn:
                world.Send(room(length), right, 5)
                world.Ssend(room(length), right, 6)
            else:
                world.Recv(room(9000), left, 5, status)
                world.Recv(room(9000), MPI.ANY_SOURCE, MPI.ANY_TAG)
        world.Bsend(room(length), right, 7)
        world.Recv(room(9000), left, MPI.ANY_TAG)
        world.Sendrecv(room(length), right, 8, room(9000), left, 8)
        world.Sendrecv_replace(room(length), right, 9, MPI.ANY_SOURCE, 9, status)
        tally("send", length, 3)
        tally("synchronous", length)
        tally("buffered", length)
        tally("receive", length, 5)
    request = world.Irecv(room(), left, 10)
    world.Barrier()
    world.Rsend(room(100), right, 10)
    request.Wait()
    together("barrier", 0, 0)
    tally("ready", 100)
    tally("receive", 100)
    world.Send(room(9), MPI.PROC_NULL)
    world.Recv(room(9), MPI.PROC_NULL)
    world.Mprobe(MPI.PROC_NULL).Recv(room(9))
    for length in (50, 51, 52):
        world.Bsend(room(length), right, length)
        tally("buffered", length)
        tally("receive", length)
    world.Probe(left, 50)
    while not world.Iprobe(MPI.ANY_SOURCE, 50, status):
        pass
    world.Recv(room(status.Get_count(MPI.BYTE)), status.Get_source(), status.Get_tag())
    world.Mprobe(MPI.ANY_SOURCE, 51).Recv(room())
    while not (message := world.Improbe(left, 52)):
        pass
    message.Irecv(room()).Wait()


def exchange(many=8):
    """Begins to receive from the left and to send to the right, so many of each."""
    requests = []
    for at in range(many):
        requests.append(world.Irecv(room(), left if at % 3 else MPI.ANY_SOURCE, at))
        tally("receive", 40 * at)
    for at in range(many):
        what, send = [("send", world.Isend), ("synchronous", world.Issend), ("buffered", world.Ibsend)][at % 3]
        requests.append(send(room(40 * at), right, at))
        tally(what, 40 * at)
    return requests


def requests():
    """Messages with requests of every kind, and all ways to wait for them."""
    for request in exchange():
        request.Wait()
    MPI.Request.Waitall(exchange())
    several = exchange()
    MPI.Request.Waitall(several, [MPI.Status() for _ in several])
    for several in [exchange()]:
        for _ in several:
            MPI.Request.Waitany(several)
    several = exchange()
    while MPI.Request.Waitsome(several) is not None:
        pass
    for request in exchange():
        while not request.Test():
            pass
    several = exchange()
    while not MPI.Request.Testall(several):
        pass
    several = exchange()
    left_over = len(several)
    while left_over > 0:
        left_over -= MPI.Request.Testany(several)[1]
    several = exchange()
    while (done := MPI.Request.Testsome(several)) is not None:
        pass
    kept = [
        world.Recv_init(room(), left, 50), world.Recv_init(room(), MPI.ANY_SOURCE, 51), world.Recv_init(room(), left, 52),
        world.Send_init(room(70), right, 50), world.Ssend_init(room(80), right, 51), world.Bsend_init(room(90), right, 52),
    ]
    MPI.Prequest.Startall(kept)
    MPI.Request.Waitall(kept)
    for request in kept:
        request.Start()
    MPI.Request.Waitall(kept)
    for what, length in [("send", 70), ("synchronous", 80), ("buffered", 90)]:
        tally(what, length, 2)
        tally("receive", length, 2)
    ready = [world.Recv_init(room(), left, 53), world.Rsend_init(room(60), right, 53)]
    ready[0].Start()
    receive = world.Irecv(room(), left, 54)
    world.Barrier()
    ready[1].Start()
    MPI.Request.Waitall([receive, world.Irsend(room(60), right, 54)] + ready)
    together("barrier", 0, 0)
    tally("ready", 60, 2)
    tally("receive", 60, 2)
    for request in kept + ready:
        request.Free()
    # A receive that nobody sends to is called off; a send is let go, when it has long arrived.
    request = world.Irecv(room(), left, 60)
    request.Cancel()
    request.Wait()
    tally("void")
    out = room(60)
    world.Isend(out, right, 61).Free()
    world.Recv(room(), left, 61)
    tally("send", 60)
    tally("receive", 60)
    if not RECENT:
        return
    world.Isendrecv(room(30), right, 70, room(), left, 70).Wait()
    world.Isendrecv_replace(room(30), right, 71, left, 71).Wait()
    tally("send", 30, 2)
    # MPICH, the one that has these, says nothing of what came.
    tally("unsaid", 0, 2)
    parts = [world.Psend_init(room(1000), 4, right, 80), world.Precv_init(room(1000), 4, left, 80)]
    MPI.Prequest.Startall(parts)
    parts[0].Pready_range(2, 3)
    parts[0].Pready(0)
    parts[0].Pready_list([1])
    MPI.Request.Waitall(parts)
    for request in parts:
        request.Free()
    tally("send", 1000)
    tally("receive", 1000)


def in_all_forms(of, name, *arguments, **others):
    """An operation at once, with a request, and where the library has it, persistent; how many that are."""
    getattr(of, name)(*arguments, **others)
    getattr(of, "I" + name[0].lower() + name[1:])(*arguments, **others).Wait()
    if not RECENT:
        return 2
    request = getattr(of, name + "_init")(*arguments, **others)
    request.Start()
    request.Wait()
    request.Free()
    return 3


def collectives():
    """Collective operations of every kind; of those that are uneven, rank r has r + 1 bytes."""
    root, part = size - 1, 30
    parts, own, counts, places = part * size, rank + 1, [at + 1 for at in range(size)], [at * (at + 1) // 2 for at in range(size)]
    whole = sum(counts)
    at_root, elsewhere = int(rank == root), int(rank != root)
    even, evens = room(part), room(parts)
    uneven = [bytearray(whole), counts, places, MPI.BYTE]
    owns = [bytearray(own * size), [own] * size, [own * at for at in range(size)], MPI.BYTE]

    def all_forms(what, given, got, *arguments, of=world, **others):
        together(what, given, got, in_all_forms(of, *arguments, **others))

    all_forms("barrier", 0, 0, "Barrier")
    all_forms("broadcast", at_root * part, elsewhere * part, "Bcast", even, root=root)
    all_forms("scatter", at_root * parts, part, "Scatter", evens, even, root=root)
    all_forms("scatter", at_root * whole, own, "Scatterv", uneven, room(own), root=root)
    all_forms("gather", part, at_root * parts, "Gather", even, evens, root=root)
    all_forms("gather", own, at_root * whole, "Gatherv", room(own), uneven, root=root)
    all_forms("reduce", part, at_root * part, "Reduce", even, room(part), op=MPI.BOR, root=root)
    all_forms("all-reduce", part, part, "Allreduce", even, room(part), op=MPI.BOR)
    all_forms("all-gather", part, parts, "Allgather", even, evens)
    all_forms("all-gather", own, whole, "Allgatherv", room(own), uneven)
    all_forms("all-to-all", parts, parts, "Alltoall", evens, room(parts))
    all_forms("all-to-all", whole, own * size, "Alltoallv", uneven, owns)
    types = [MPI.BYTE] * size
    all_forms("all-to-all", whole, own * size, "Alltoallw", (uneven[0], counts, places, types), (*owns[:3], types))
    all_forms("reduce-scatter", whole, own, "Reduce_scatter", room(whole), room(own), counts, op=MPI.BOR)
    all_forms("reduce-scatter", parts, part, "Reduce_scatter_block", evens, even, op=MPI.BOR)
    all_forms("scan", part, part, "Scan", even, room(part), op=MPI.BOR)
    all_forms("exclusive scan", part, part if rank else 0, "Exscan", even, room(part), op=MPI.BOR)
    world.Allreduce(MPI.IN_PLACE, even, op=MPI.BOR)
    together("all-reduce", part, part)
    world.Allgather(MPI.IN_PLACE, evens)
    together("all-gather", part, parts)
    grid = world.Create_cart([size], periods=[True])
    two = [bytearray(40), [20, 20], [0, 20], MPI.BYTE]
    types = [MPI.BYTE] * 2
    for name, given, got in [
        ("allgather", room(20), room(40)), ("allgatherv", room(20), two), ("alltoall", room(40), room(40)),
        ("alltoallv", two, two), ("alltoallw", (*two[:3], types), (*two[:3], types)),
    ]:
        all_forms("neighbours", 40, 40, "Neighbor_" + name, given, got, of=grid)
    grid.Free()
    tally("make", 0, 2)


def ends(comm):
    """From the first member of a communicator to the last, if they are two; then it is given up."""
    members = comm.Get_size()
    if members > 1 and comm.Get_rank() == 0:
        comm.Send(room(80), members - 1)
        tally("send", 80)
    elif members > 1 and comm.Get_rank() == members - 1:
        comm.Recv(room(80), MPI.ANY_SOURCE)
        tally("receive", 80)
    comm.Free()
    tally("make", 0, 2)


def communicators():
    """Communicators of every kind, each with a message on it."""
    later, request = world.Idup()
    request.Wait()
    later.Disconnect()
    tally("make", 0, 2)
    for one in [world.Dup(), world.Dup_with_info(MPI.INFO_NULL), world.Split(0, -rank), world.Split_type(MPI.COMM_TYPE_SHARED)]:
        ends(one)
    half = world.Split(rank % 2, rank)
    between = half.Create_intercomm(0, world, (rank + 1) % 2, 3)
    if rank < 2:
        between.Sendrecv(room(4), 0, 5, room(4), MPI.ANY_SOURCE, 5)
        tally("send", 4)
        tally("receive", 4)
    between.Bcast(room(4), 0 if rank % 2 else MPI.ROOT if rank == 0 else MPI.PROC_NULL)
    together("broadcast", 4 * (rank == 0), 4 * (rank % 2))
    ends(between.Merge(rank % 2 == 1))
    between.Free()
    half.Free()
    tally("make", 0, 4)
    some = world.Get_group().Excl([size - 1])
    made = world.Create(some)
    if made != MPI.COMM_NULL:
        ends(made)
        ends(world.Create_group(some, 4))
    else:
        tally("make")
    grid = world.Create_cart([size // 2, 2], periods=[True, False])
    ends(grid.Sub([True, False]))
    ends(grid.Dup())
    ends(grid)
    ends(world.Create_graph(list(range(1, size + 1)), [(at + 1) % size for at in range(size)]))
    ends(world.Create_dist_graph([rank], [1], [right]))
    ends(world.Create_dist_graph_adjacent([left], [right]))


def windows():
    """One-sided transfers of every kind, and what synchronises them."""
    part, target = 100, (0, 100, MPI.BYTE)
    out, into = room(part), room(part)
    world_group = world.Get_group()
    window = MPI.Win.Create(bytearray(400), 1, MPI.INFO_NULL, world)
    other = MPI.Win.Allocate(part, 1, MPI.INFO_NULL, world)
    window.Fence()
    window.Put(out, right, target)
    window.Fence()
    window.Get(into, left, target)
    window.Put(out, MPI.PROC_NULL, target)
    window.Fence()
    window.Accumulate(out, right, target, MPI.BOR)
    window.Fence()
    tally("fence", 0, 4)
    other.Post(world_group.Incl([left]))
    other.Start(world_group.Incl([right]))
    other.Put(out, right, target)
    other.Complete()
    if rank % 2:
        other.Wait()
    else:
        while not other.Test():
            pass
    for what in ("post", "start", "complete", "wait"):
        tally(what)
    window.Lock(right, MPI.LOCK_EXCLUSIVE)
    window.Rput(out, right, target).Wait()
    window.Flush(right)
    window.Flush_local(right)
    window.Unlock(right)
    window.Lock(left, MPI.LOCK_SHARED)
    window.Rget(into, left, target).Wait()
    window.Unlock(left)
    tally("put", part, 3)
    tally("get", part, 2)
    tally("lock exclusive")
    tally("lock shared")
    tally("unlock", 0, 2)
    window.Lock_all()
    window.Get_accumulate(out, into, right, target, MPI.BOR)
    window.Flush(right)
    window.Raccumulate(out, right, target, MPI.BOR).Wait()
    window.Rget_accumulate(out, into, right, target, MPI.BOR).Wait()
    one, found, zero = ([bytearray(4), MPI.INT] for _ in range(3))
    window.Fetch_and_op(one, found, right, 200, MPI.SUM)
    window.Flush_all()
    window.Compare_and_swap(one, zero, found, right, 204)
    window.Flush_local_all()
    window.Unlock_all()
    tally("accumulate", part, 4)
    tally("accumulate", 4, 2)
    tally("flush", 0, 5)
    tally("lock all")
    tally("unlock all")
    world.Barrier()
    together("barrier", 0, 0)
    other.Free()
    window.Free()
    MPI.Win.Allocate_shared(part, 1, MPI.INFO_NULL, world).Free()
    MPI.Win.Create_dynamic(MPI.INFO_NULL, world).Free()
    tally("make", 0, 8)


def objects():
    """Objects, which are pickled: of operations of all, what each has is as long as its rank; lengths go first, eight bytes each."""
    thing = {"rank": rank, "text": "x" * 100}
    there = {"rank": left, "text": "x" * 100}
    own = pickled(thing)
    for turn in range(2):
        if rank % 2 == turn:
            world.send(thing, right, 1)
            world.ssend(thing, right, 2)
        else:
            assert world.recv(source=left, tag=1) == there
            assert world.recv(source=MPI.ANY_SOURCE, tag=2) == there
    world.bsend(thing, right, 3)
    assert world.mprobe(left, 3).recv() == there
    assert world.sendrecv(thing, right, 4, source=left, recvtag=4) == there
    several = [world.isend(thing, right, 5), world.issend(thing, right, 6), world.ibsend(thing, right, 7)]
    for tag in (5, 6):
        assert world.irecv(source=left, tag=tag).wait() == there
    world.probe(left, 7)
    while not (message := world.improbe(left, 7)):
        pass
    assert message.irecv().wait() == there
    MPI.Request.waitall(several)
    tally("send", own, 3)
    tally("synchronous", own, 2)
    tally("buffered", own, 2)
    tally("receive", pickled(there), 7)
    text = "x" * (rank + 1)
    lengths = [pickled("x" * (at + 1)) for at in range(size)]
    own, whole, at_root, count = lengths[rank], sum(lengths), int(rank == 0), 8
    world.barrier()
    together("barrier", 0, 0)
    assert world.bcast("x", 0) == "x"
    together("broadcast", at_root * count, (1 - at_root) * count)
    together("broadcast", at_root * lengths[0], (1 - at_root) * lengths[0])
    texts = ["x" * (at + 1) for at in range(size)]
    assert world.scatter(texts if rank == 0 else None, 0) == text
    together("scatter", at_root * count * size, count)
    together("scatter", at_root * whole, own)
    assert world.gather(text, 0) == (texts if rank == 0 else None)
    together("gather", count, at_root * count * size)
    together("gather", own, at_root * whole)
    assert world.allgather(text) == texts
    together("all-gather", count, count * size)
    together("all-gather", own, whole)
    assert world.alltoall(texts) == [text] * size
    together("all-to-all", count * size, count * size)
    together("all-to-all", whole, own * size)
    # mpi4py reduces objects itself, by messages on a copy of the communicator, in as many steps as the number of ranks, a power of
    # two, has bits; in each either half sends to the other, or all exchange.
    assert world.reduce(1, root=0) == (size if rank == 0 else None)
    assert world.allreduce(1) == size
    assert world.scan(1) == rank + 1
    assert world.exscan(1) == (rank or None)
    steps, ones, one = size.bit_length() - 1, bin(rank).count("1"), pickled(1)
    for length in (count, one):
        tally("send", length, 2 * ones + 2 * steps)
        tally("receive", length, 2 * (steps - ones) + 2 * steps)
        together("broadcast", at_root * length, (1 - at_root) * length)
    tally("make", 0, 2)


def threads():
    """Threads that all send and receive at once, each with a communicator of its own."""
    many, rounds = 3, 2

    def work(comm):
        for _ in range(rounds):
            request = comm.Irecv(room(), left, 0)
            comm.Send(room(40), right, 0)
            request.Wait()
            comm.Allreduce(room(4), room(4), op=MPI.BOR)

    comms = [world.Dup() for _ in range(many)]
    running = [threading.Thread(target=work, args=(comm,)) for comm in comms]
    for thread in running:
        thread.start()
    for thread, comm in zip(running, comms):
        thread.join()
        comm.Free()
    tally("send", 40, many * rounds)
    tally("receive", 40, many * rounds)
    together("all-reduce", 4, 4, many * rounds)
    tally("make", 0, 2 * many)


MPI.Attach_buffer(bytearray(400_000))
messages()
requests()
collectives()
communicators()
windows()
objects()
if MPI.Query_thread() == MPI.THREAD_MULTIPLE:
    threads()
# In one piece, so that the lines of ranks stay apart where nothing is buffered.
sys.stdout.write("".join(f"{rank} {what} {times} {length}\n" for what, (times, length) in tallies.items()))
