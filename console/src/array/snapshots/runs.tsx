import { List, Text } from '@mantine/core';
import { exactTime, localTime } from '../../parts/format.ts';
import { cronWords } from './cron.ts';
import { nextRuns, scheduleProblem } from './next-runs.ts';

const SHOWN = 5;

/** When a policy takes its next snapshots, in the zone of the viewer. */
export function NextRuns({ of: expression }: { readonly of: string }) {
  const runs = nextRuns(expression, new Date(), SHOWN);
  if (runs.length === 0) return null;
  return (
    <List size="sm">
      {runs.map((run) => (
        <List.Item key={run.getTime()}>
          <time dateTime={run.toISOString()} title={exactTime(run)}>
            {localTime(run)}
          </time>
        </List.Item>
      ))}
    </List>
  );
}

/** What an expression says, while it is being written. */
export function Understood({ expression }: { readonly expression: unknown }) {
  if (typeof expression !== 'string' || expression.trim() === '') return null;
  const isManual = expression.trim().toLowerCase() === 'manual';
  if (isManual) return <Text size="sm">Manual only.</Text>;
  // The field says why.
  if (scheduleProblem(expression) !== undefined) return null;
  return (
    <div>
      <Text size="sm" fw={500}>
        In words: {cronWords(expression)}. Next, in your time zone:
      </Text>
      <NextRuns of={expression} />
    </div>
  );
}
