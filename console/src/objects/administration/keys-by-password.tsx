import { Button, Group, PasswordInput, Stack } from '@mantine/core';
import { useState, type SubmitEvent } from 'react';
import { objects } from '../../api/objects.ts';
import type { Reply } from '../../api/operations.ts';
import { usePlace } from '../../api/places.tsx';
import { act } from '../../api/queries.ts';
import type { Identity } from '../../app/identity.tsx';
import { Failed } from '../../parts/messages.tsx';
import { Copy, Facts } from '../../parts/small.tsx';

type Keys = Reply<typeof objects.users.authenticate.endpoint>['user']['objs_data']['objs_user'];

/** A member may not read records of users, not even their own: giving the password once more shows the keys. */
export function KeysByPassword({ me }: { readonly me: Identity }) {
  const place = usePlace('objects');
  const [password, setPassword] = useState('');
  const [keys, setKeys] = useState<Keys>();
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  if (keys) return <KeyFacts keys={keys} />;

  async function show(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      const input = { account: me.accountId ?? me.accountName ?? '', user: me.username, password };
      const { value } = await act(objects.users.authenticate, place, input, { reveal: true });
      setKeys(value?.user.objs_data.objs_user);
    } catch (error) {
      setProblem(error);
    } finally {
      setPassword('');
      setBusy(false);
    }
  }

  return (
    <form onSubmit={(event) => void show(event)}>
      <Stack gap="xs" maw={360}>
        <PasswordInput
          label="Your password"
          description="It is asked for once more before the keys are shown."
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          autoComplete="current-password"
          required
        />
        {problem !== undefined && <Failed error={problem} />}
        <Button type="submit" variant="default" loading={isBusy} w="fit-content">
          Show my keys
        </Button>
      </Stack>
    </form>
  );
}

function KeyFacts({ keys }: { readonly keys: Keys }) {
  const shown = (label: string, text: string | null) =>
    text === null ? (
      'none'
    ) : (
      <Group gap={4} wrap="nowrap">
        {text} <Copy text={text} label={`Copy the ${label}`} />
      </Group>
    );
  return (
    <Facts
      of={[
        ['Access key', shown('access key', keys.s3_access_key)],
        ['Secret key', shown('secret key', keys.s3_secret_key)],
      ]}
    />
  );
}
