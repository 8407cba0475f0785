import { pino, type DestinationStream, type Logger } from 'pino';

export type Log = Logger;
export type LogLevel = 'debug' | 'info';

const SECRET_NAME = /pass(word|code|wd)|pwd|secret|token|authorization|cookie|pem$|[_-]key$/i;
const DEPTH_MAX = 5;

/**
 * Redacts by name, whatever the nesting. A net, not the rule: nothing that carries a request's parameters is logged
 * whole. The level may be changed while the service runs: `log.level = 'debug'`.
 */
export function createLog(service: string, level: LogLevel | 'silent' = 'info', destination?: DestinationStream): Log {
  return pino(
    {
      level,
      base: { service },
      errorKey: 'error',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { log: (facts) => redacted(facts, 0) as Record<string, unknown> },
      // Errors are told whole above; pino's own teller would take the result for an error once more.
      serializers: { error: (told: unknown) => told },
    },
    destination ?? pino.destination(1),
  );
}

function redacted(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return value;
  if (depth > DEPTH_MAX) return '[deep]';
  if (Array.isArray(value)) return value.map((item) => redacted(item, depth + 1));
  const facts = value instanceof Error ? pino.stdSerializers.err(value) : value;
  return Object.fromEntries(
    Object.entries(facts).map(([name, fact]) => [
      name,
      SECRET_NAME.test(name) ? '[redacted]' : redacted(fact, depth + 1),
    ]),
  );
}
