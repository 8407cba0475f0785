import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { ApiError } from '@granary/client/errors';
import type { Endpoint } from '@granary/contract';
import type { QueryClient } from '@tanstack/react-query';
import type { AnyInput, Op, SentBy } from '../api/operations.ts';
import { act, refreshNow } from '../api/queries.ts';
import type { Place } from '../api/send.ts';
import { sameSession } from '../api/token.ts';
import { wordsOf } from '../parts/messages.tsx';

/** The call that takes an action back. */
export interface Undo<E extends Endpoint = Endpoint> {
  readonly op: Op<E>;
  readonly input: AnyInput;
  /** What is said when it is taken back. */
  readonly said: string;
}

/** Keeps the types of a call that takes back actions of other operations. */
export function undo<E extends Endpoint>(given: Undo<E>): Undo {
  return given;
}

const OFFERED_MS = 10_000;
const TOLD_MS = 5_000;
const RETRY_MS = 1_000;
const TRIES_MAX = 60;
const CONFLICT = 409;

interface Reach {
  readonly client: QueryClient;
  readonly place: Place;
}

/** Says that something was done, with a button that takes it back. */
export function offerUndo(message: string, undos: readonly Undo[], reach: Reach): void {
  const id = `undo-${undos.map(({ input }) => JSON.stringify(input)).join()}`;
  const run = () => {
    notifications.update({ id, message: 'Taking it back …', loading: true, autoClose: false });
    takeBack(undos, reach).then(
      (said) => notifications.update({ id, message: said, color: 'teal', loading: false, autoClose: TOLD_MS }),
      (error: unknown) =>
        notifications.update({ id, message: wordsOf(error).title, color: 'red', loading: false, autoClose: false }),
    );
  };
  notifications.show({
    id,
    color: 'teal',
    autoClose: OFFERED_MS,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{message}</Text>
        <Button size="compact-sm" variant="light" onClick={run}>
          Undo
        </Button>
      </Group>
    ),
  });
}

async function takeBack(undos: readonly Undo[], { client, place }: Reach): Promise<string> {
  const isSame = sameSession();
  for (const one of undos) await whenPossible(() => act(one.op, place, one.input as SentBy<Endpoint>), isSame);
  await refreshNow(client, place, [...new Set(undos.map(({ op }) => op.group))]);
  return undos.length === 1 && undos[0] ? undos[0].said : `${undos.length} were restored.`;
}

/** What is still on its way out is refused as a conflict until it is there. */
async function whenPossible(work: () => Promise<unknown>, isSame: () => boolean): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      if (!isSame()) throw new Error('Another session has begun.');
      await work();
      return;
    } catch (error) {
      const isEarly = error instanceof ApiError && error.status === CONFLICT;
      if (!isEarly || tries >= TRIES_MAX) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}
