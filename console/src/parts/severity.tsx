import { Badge } from '@mantine/core';

/** The syslog scale, by its numbers. */
export const severities = ['emergency', 'alert', 'critical', 'error', 'warning', 'notice', 'info', 'debug'] as const;

const COLORS = ['red', 'red', 'red', 'red', 'yellow', 'blue', 'gray', 'gray'] as const;

export function Severity({ of: severity }: { readonly of: number }) {
  const color = COLORS[severity] ?? 'gray';
  return (
    <Badge variant="light" color={color} className={`state-${color}`} tt="none">
      {severities[severity] ?? severity}
    </Badge>
  );
}
