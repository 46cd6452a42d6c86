C     Every rank says its number, by the oldest of the interfaces.
      PROGRAM RANKS
      INCLUDE 'mpif.h'
      INTEGER RANK, SIZE, ERROR, I
      REAL*8 X
      CALL MPI_INIT(ERROR)
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, RANK, ERROR)
      CALL MPI_COMM_SIZE(MPI_COMM_WORLD, SIZE, ERROR)
      X = 0
      DO 10 I = 1, 20000000
        X = X + SQRT(DBLE(I))
   10 CONTINUE
      IF (X .LT. 0) PRINT *, 'unlikely'
      PRINT '(A,I0,A,I0)', 'RANK ', RANK, ' OF ', SIZE
      CALL MPI_FINALIZE(ERROR)
      END
