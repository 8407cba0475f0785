import { Button, List, Modal, Progress, Stack, Text, TextInput } from '@mantine/core';
import type { Endpoint } from '@granary/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { operationMark, type Op, type SentBy } from '../api/operations.ts';
import { usePlace } from '../api/places.tsx';
import { act, refresh } from '../api/queries.ts';
import { useMay } from '../app/identity.tsx';
import { wordsOf } from './messages.tsx';

interface BulkProps<E extends Endpoint, T> {
  readonly op: Op<E>;
  readonly label: string;
  readonly rows: readonly T[];
  readonly nameOf: (row: T) => string;
  readonly inputOf: (row: T) => SentBy<E>;
  /** Destroys data: the number of rows has to be typed. */
  readonly isDestroying?: boolean;
  readonly onDone: () => void;
}

interface Result {
  readonly name: string;
  readonly problem: string | undefined;
}

const AT_A_TIME = 4;

/** One operation over many records, a few at a time, with what came of each. */
export function Bulk<E extends Endpoint, T>(props: BulkProps<E, T>) {
  const { op, label, rows, nameOf, inputOf } = props;
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const [results, setResults] = useState<readonly Result[]>();
  const place = usePlace(op.api.name);
  const client = useQueryClient();
  const may = useMay();
  const callable = rows.filter((row) => may(op as Op, inputOf(row) as Record<string, unknown>));
  if (callable.length === 0) return null;
  const isConfirmed = props.isDestroying !== true || typed === String(callable.length);

  async function run(): Promise<void> {
    setResults([]);
    const waiting = callable.values();
    const work = async () => {
      for (const row of waiting) {
        const problem = await act(op, place, inputOf(row)).then(
          () => undefined,
          (error: unknown) => wordsOf(error).title,
        );
        setResults((before = []) => [...before, { name: nameOf(row), problem }]);
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, work));
    await refresh(client, place, [op.group]);
  }

  function close(): void {
    setOpen(false);
    setTyped('');
    if (results) props.onDone();
    setResults(undefined);
  }

  return (
    <>
      <Button
        size="xs"
        variant="default"
        color={props.isDestroying ? 'red' : undefined}
        onClick={() => setOpen(true)}
        {...operationMark(op as Op)}
      >
        {label}
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={`${label}: ${callable.length}`}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Stack>
          {!results && (
            <>
              <Text size="sm">
                {callable.map(nameOf).slice(0, 20).join(', ')}
                {callable.length > 20 ? ' …' : ''}
              </Text>
              {props.isDestroying && (
                <TextInput
                  label={`Type ${callable.length} to confirm`}
                  value={typed}
                  onChange={(event) => setTyped(event.currentTarget.value)}
                />
              )}
              <Button onClick={() => void run()} disabled={!isConfirmed} color={props.isDestroying ? 'red' : undefined}>
                {label}
              </Button>
            </>
          )}
          {results && <Outcome results={results} total={callable.length} />}
          {results?.length === callable.length && <Button onClick={close}>Close</Button>}
        </Stack>
      </Modal>
    </>
  );
}

function Outcome({ results, total }: { readonly results: readonly Result[]; readonly total: number }) {
  const failed = results.filter(({ problem }) => problem !== undefined);
  return (
    <>
      <Progress value={(results.length / total) * 100} aria-label="Done so far" />
      <Text size="sm" role="status">
        {results.length - failed.length} done, {failed.length} refused, {total - results.length} to go
      </Text>
      {failed.length > 0 && (
        <List size="sm">
          {failed.map(({ name, problem }) => (
            <List.Item key={name}>
              {name}: {problem}
            </List.Item>
          ))}
        </List>
      )}
    </>
  );
}
