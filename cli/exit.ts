/** What scripts can tell apart. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, notAllowed: 3, notFound: 4, noConnection: 5 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A command that ends here, with what to tell the person: one sentence, and a line for each detail. */
export class CommandFailure extends Error {
  readonly exitCode: ExitCode;
  readonly details: readonly string[];

  constructor(
    exitCode: ExitCode,
    message: string,
    { details = [], cause }: { details?: readonly string[]; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.name = 'CommandFailure';
    this.exitCode = exitCode;
    this.details = details;
  }
}

export function usageFailure(message: string, details: readonly string[] = []): CommandFailure {
  return new CommandFailure(exitCodes.usage, message, { details });
}
