import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useRef, type ReactNode } from 'react';
import { ArrayPlace } from '../api/places.tsx';
import { portal } from '../api/portal.ts';
import { useRead } from '../api/queries.ts';
import { useChangeFeed } from '../api/feed/changes.ts';
import type { Reply } from '../api/operations.ts';
import { ActionButton } from '../contract/action.tsx';
import { Failed, Loading } from '../parts/messages.tsx';
import { useArrayRecord } from './array-name.ts';
import { BaseContext, useParam } from './base.ts';
import { IdentityAt } from './identity.tsx';
import { LockedDown } from './locked-down.tsx';

/** States that nobody asked for: the array is expected to serve again. */
const COMES_BACK: ReadonlySet<string> = new Set(['starting', 'failed']);
const PATHS = { array: 'block', objects: 'objects' } as const;

/** An array behind the portal: its pages speak to it as the person's own user there. */
export function ArrayConsole(props: { readonly api: 'array' | 'objects'; readonly children: ReactNode }) {
  const id = useParam('arrayId');
  const { reading: record, isHidden } = useArrayRecord(Number(id));
  const status = record.data?.data.status;
  const isUp = status === 'created' || isHidden;
  const identity = useRead(portal.arrays.getIdentity, { array_id: Number(id) }, { enabled: isUp });
  const wasShown = useRef(false);
  const down = record.data && !isUp ? record.data.data : undefined;
  if (record.isError) return <Failed error={record.error} retry={() => void record.refetch()} />;
  // Pages that are open stay while the array comes back: what was typed into a form is in them.
  if (down && !(wasShown.current && COMES_BACK.has(down.status))) return <Down array={down} />;
  if (!identity.data) {
    if (identity.isError) return <Failed error={identity.error} retry={() => void identity.refetch()} />;
    return <Loading />;
  }
  const { known, message, username, role, account_id, account_name } = identity.data.data;
  if (!known || role === null || username === null) return <Unknown id={id} message={message} />;
  wasShown.current = true;
  const isLocked = record.data?.data.locked_down === true;
  const who = { username, role, isLocked, accountId: account_id ?? undefined, accountName: account_name ?? undefined };
  return (
    <BaseContext value={`/arrays/${id}/${PATHS[props.api]}`}>
      <ArrayPlace api={props.api} id={id}>
        <IdentityAt api={props.api} identity={who}>
          <Feed api={props.api} />
          {down && <Away array={down} />}
          {isLocked && (
            <LockedDown>
              on{' '}
              <Anchor component={Link} to={`/arrays/${id}`} size="sm">
                its page
              </Anchor>
            </LockedDown>
          )}
          {props.children}
        </IdentityAt>
      </ArrayPlace>
    </BaseContext>
  );
}

function Feed({ api }: { readonly api: string }) {
  useChangeFeed(api);
  return null;
}

/** Above pages that were open when the array stopped answering. */
function Away({ array: { id, name, status, status_message: message } }: { readonly array: DownArray }) {
  return (
    <Alert color={status === 'failed' ? 'red' : 'orange'} mb="md" role="status" title={`${name}: ${status}`}>
      {message} What is shown is what was known before, and nothing can be changed until the array answers again.{' '}
      <Anchor component={Link} to={`/arrays/${id}`} size="sm">
        The array’s page
      </Anchor>
    </Alert>
  );
}

type DownArray = Pick<Reply<typeof portal.arrays.get.endpoint>['data'], 'id' | 'name' | 'status' | 'status_message'>;

/** What to do about an array that does not serve at present. */
function Down({ array: { id, name, status, status_message: message } }: { readonly array: DownArray }) {
  const isHibernated = status === 'hibernated';
  return (
    <Stack>
      <Alert color={status === 'failed' ? 'red' : 'yellow'} title={`${name}: ${status}`}>
        <Text size="sm">
          {isHibernated
            ? 'A hibernated array is stopped and keeps its data. Its pages are here once it is restored.'
            : (message ?? 'Its pages are here once it is up.')}
        </Text>
      </Alert>
      <Group>
        {(isHibernated || status === 'failed') && (
          <ActionButton
            op={portal.arrays.restore}
            label={isHibernated ? 'Restore the array' : 'Try again'}
            isMain
            input={{ array_id: id }}
            about="The array starts again with all its data."
          />
        )}
        <Button component={Link} to={`/arrays/${id}`} variant="default">
          To the array’s page
        </Button>
      </Group>
    </Stack>
  );
}

function Unknown({ id, message }: { readonly id: string; readonly message: string | null }) {
  return (
    <Stack>
      <Alert color="yellow" title="You have no user in this array">
        <Text>{message}</Text>
        <Text>What the portal knows of the array is on its own page.</Text>
      </Alert>
      <Button component={Link} to={`/arrays/${id}`} variant="default" w="fit-content">
        To the array’s page
      </Button>
    </Stack>
  );
}
