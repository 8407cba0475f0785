import { Button, Group, List, Progress, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { Endpoint } from '@granary/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { operationMark, type AnyInput, type Op, type SentBy } from '../api/operations.ts';
import { usePlace } from '../api/places.tsx';
import { act, refreshNow } from '../api/queries.ts';
import { sameSession } from '../api/token.ts';
import { useMay } from '../app/identity.tsx';
import { BulkCommands } from '../contract/command-view.tsx';
import { offerUndo, type Undo } from '../contract/undo.tsx';
import { Dialog } from './dialog.tsx';
import { wordsOf } from './messages.tsx';

interface BulkProps<E extends Endpoint, T> {
  readonly op: Op<E>;
  readonly label: string;
  readonly rows: readonly T[];
  readonly nameOf: (row: T) => string;
  readonly inputOf: (row: T) => SentBy<E>;
  /** What comes of it, in plain words. */
  readonly about?: string;
  /** Destroys data: the number of rows has to be typed. */
  readonly isDestroying?: boolean;
  /** The call that takes it back for one row, where there is one. */
  readonly undoOf?: (row: T) => Undo | undefined;
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
  const [isCommand, setCommand] = useState(false);
  const [results, setResults] = useState<readonly Result[]>();
  const [isRunning, setRunning] = useState(false);
  const isStopped = useRef(false);
  const isShown = useIsShown();
  const place = usePlace(op.api.name);
  const client = useQueryClient();
  const may = useMay();
  /** What was begun with: rows leave the list as they are done. */
  const [begun, setBegun] = useState<readonly T[]>();
  const callable = begun ?? rows.filter((row) => may(op as Op, inputOf(row) as Record<string, unknown>));
  if (callable.length === 0 && !isOpen) return null;
  const isConfirmed = props.isDestroying !== true || typed === String(callable.length);

  async function run(): Promise<void> {
    setBegun(callable);
    setResults([]);
    setRunning(true);
    isStopped.current = false;
    const isSame = sameSession();
    const waiting = callable.values();
    const done: T[] = [];
    let refused = 0;
    const work = async () => {
      for (const row of waiting) {
        if (isStopped.current || !isSame()) return;
        const problem = await act(op, place, inputOf(row)).then(
          () => undefined,
          (error: unknown) => wordsOf(error).title,
        );
        if (problem === undefined) done.push(row);
        else refused += 1;
        setResults((before = []) => [...before, { name: nameOf(row), problem }]);
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, work));
    setRunning(false);
    if (!isSame()) return;
    await refreshNow(client, place, [op.group]);
    if (!isShown.current && refused > 0)
      notifications.show({ color: 'red', message: `${label}: ${done.length} done, ${refused} refused.` });
    const undos = done.flatMap((row) => props.undoOf?.(row) ?? []);
    if (undos.length > 0) offerUndo(`${label}: ${undos.length} done.`, undos, { client, place });
  }

  function stop(): void {
    isStopped.current = true;
  }

  function close(): void {
    setOpen(false);
    setTyped('');
    if (results) props.onDone();
    setResults(undefined);
    setBegun(undefined);
  }

  return (
    <>
      <Button
        size="xs"
        variant="default"
        color={props.isDestroying ? 'red' : undefined}
        onClick={() => setOpen(true)}
        {...operationMark(op)}
      >
        {label}
      </Button>
      <Dialog opened={isOpen} onClose={isRunning ? stop : close} title={`${label}: ${callable.length}`}>
        <Stack>
          {!results && (
            <>
              {props.about !== undefined && <Text size="sm">{props.about}</Text>}
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
              {isCommand && <BulkCommands op={op} inputs={callable.map((row) => inputOf(row) as AnyInput)} />}
              <Group justify="space-between">
                <Button variant="subtle" size="xs" onClick={() => setCommand(!isCommand)} aria-pressed={isCommand}>
                  Show as command
                </Button>
                <Group>
                  <Button variant="default" onClick={close}>
                    Cancel
                  </Button>
                  <Button
                    onClick={() => void run()}
                    disabled={!isConfirmed}
                    color={props.isDestroying ? 'red' : undefined}
                  >
                    {label}
                  </Button>
                </Group>
              </Group>
            </>
          )}
          {results && <Outcome results={results} total={callable.length} />}
          {results && (isRunning ? <Button onClick={stop}>Stop</Button> : <Button onClick={close}>Close</Button>)}
        </Stack>
      </Dialog>
    </>
  );
}

/** Whether the page is still there: what came of work is said elsewhere when it is not. */
function useIsShown() {
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return isShown;
}

function Outcome({ results, total }: { readonly results: readonly Result[]; readonly total: number }) {
  const failed = results.filter(({ problem }) => problem !== undefined);
  return (
    <>
      <Progress value={(results.length / total) * 100} aria-label="Done so far" />
      <Text size="sm" role="status">
        {results.length - failed.length} done, {failed.length} refused, {total - results.length} to go
      </Text>
      <List size="sm">
        {[...failed, ...results.filter(({ problem }) => problem === undefined)].map(({ name, problem }, index) => (
          <List.Item key={index} c={problem === undefined ? undefined : 'red'}>
            {name}: {problem ?? 'done'}
          </List.Item>
        ))}
      </List>
    </>
  );
}
