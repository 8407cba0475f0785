/** An answer that says no: the service understood and refused. */
export class ApiError extends Error {
  /** The portal's HTTP status, or the code in an array's reply. */
  readonly status: number;
  readonly problems: readonly { field: string; message: string }[];

  constructor(status: number, message: string, problems: readonly { field: string; message: string }[] = []) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.problems = problems;
  }
}

/** The work was taken and goes on, but was not done within `timeout`: there is nothing to return yet. */
export class StillRunning extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StillRunning';
  }
}

/** No answer at all: wrong address, nothing listening, or it took too long. */
export class ConnectionError extends Error {
  /** Who did not answer, for messages: mostly a URL. */
  readonly address: string;
  /** How long an answer was waited for, where that was too long. */
  readonly waitedMs: number | undefined;

  constructor(address: string, cause: unknown, timeoutMs?: number) {
    super(`No answer from ${address}: ${reasonOf(cause)}`, { cause });
    this.name = 'ConnectionError';
    this.address = address;
    this.waitedMs = isTimeout(cause) ? timeoutMs : undefined;
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (isTimeout(error)) return 'it took too long';
  // fetch hides what went wrong one level down.
  const { cause } = error as { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? error.message;
}
