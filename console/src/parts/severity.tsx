import { Tag, type Tone } from './tag.tsx';

/** The syslog scale, by its numbers. */
export const severities = ['emergency', 'alert', 'critical', 'error', 'warning', 'notice', 'info', 'debug'] as const;

const TONES: readonly Tone[] = ['red', 'red', 'red', 'red', 'yellow', 'blue', 'gray', 'gray'];

export function Severity({ of: severity }: { readonly of: number }) {
  return <Tag tone={TONES[severity] ?? 'gray'}>{severities[severity] ?? severity}</Tag>;
}
