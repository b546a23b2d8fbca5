! SPDX-License-Identifier: Apache-2.0
! Three ways to call MPI from Fortran; built once for each, with -DWAY=...
program unmodified
#if WAY == 8
    use mpi_f08
#elif WAY == 9
    use mpi
#endif
    implicit none
#if WAY == 7
    include 'mpif.h'
#endif
    integer :: rank, ranks, ierr, i
    integer, parameter :: n = 5000
    double precision :: a(n), b(n)
    integer :: k(n)

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    do i = 1, n
        a(i) = i * (rank + 1)
        k(i) = -1
        if (rank == 1) k(i) = i
    end do
    call MPI_Allreduce(a, b, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    call MPI_Allreduce(MPI_IN_PLACE, a, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    call MPI_Bcast(k, n, MPI_INTEGER, 1, MPI_COMM_WORLD, ierr)
    do i = 1, n
        if (b(i) /= i * ranks * (ranks + 1) / 2d0 .or. a(i) /= b(i) .or. k(i) /= i) then
            print *, 'wrong at', i, a(i), b(i), k(i)
            call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
        end if
    end do
    call MPI_Finalize(ierr)
    if (rank == 0) print *, 'right'
end program
