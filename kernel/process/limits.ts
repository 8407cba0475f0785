/**
 * What an array's process may use, as bought with its engine and its app engine. The supervisor applies it when it starts
 * the process, so other limits take another start. Absent: what the runtime takes by itself.
 */
export interface ProcessLimits {
  /** Of both engines together: they decide how many threads work. */
  readonly processors?: number;
  /** Heap of the main thread, which serves the management. */
  readonly managementHeapMb?: number;
  /** Heap of each controller. */
  readonly controllerHeapMb?: number;
}

const IO_THREADS_PER_PROCESSOR = 2;
const IO_THREADS_MAX = 256;
/** A controller that serves, and a second thread that helps it with large requests. */
const PROCESSORS_FOR_HELPER = 2;

/** Threads that open, read and write files for the whole process: half of them usually wait for a disk. */
export function ioThreadsOf({ processors }: ProcessLimits): number | undefined {
  return processors === undefined ? undefined : Math.min(IO_THREADS_PER_PROCESSOR * processors, IO_THREADS_MAX);
}

export function allowsHelper({ processors }: ProcessLimits): boolean {
  return processors === undefined || processors >= PROCESSORS_FOR_HELPER;
}
