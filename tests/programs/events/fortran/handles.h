! What handles and statuses are in each of the bindings.
#if defined(MPI_F08)
#define COMM type(MPI_Comm)
#define GROUP type(MPI_Group)
#define MESSAGE type(MPI_Message)
#define REQUEST type(MPI_Request)
#define TYPES type(MPI_Datatype)
#define WINDOW type(MPI_Win)
#define POINTER type(c_ptr)
#define STATUS type(MPI_Status)
#define STATUSES(name, count) type(MPI_Status) :: name(count)
#define SOURCE_OF(one) one%MPI_SOURCE
#define TAG_OF(one) one%MPI_TAG
#else
#define COMM integer
#define GROUP integer
#define MESSAGE integer
#define REQUEST integer
#define TYPES integer
#define WINDOW integer
#define POINTER integer(MPI_ADDRESS_KIND)
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define STATUSES(name, count) integer :: name(MPI_STATUS_SIZE, count)
#define SOURCE_OF(one) one(MPI_SOURCE)
#define TAG_OF(one) one(MPI_TAG)
#endif
