import { Alert, Button, Center, Paper, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { ApiError } from '@granary/client/errors';
import { useEffect, useState, type SubmitEvent } from 'react';
import { service } from '../api/service.ts';
import { FirstPassword } from './first-password.tsx';
import type { Credentials } from './session.tsx';

const TITLES = { portal: 'Granary', array: 'Granary array', objects: 'Granary object storage' } as const;

const REFUSED = 'The user name or the password is not right. The user name and the password are case-sensitive.';

function wordsOf(error: unknown, message: string): string {
  if (error instanceof TypeError) return 'The service does not answer. See that it is running, then try again.';
  return message.startsWith('Invalid credentials') ? REFUSED : message;
}

/** Says what went wrong in words; asks for a code where the user has a second factor. */
export function SignIn(props: {
  readonly enter: (credentials: Credentials) => Promise<void>;
  /** Whether a session of this browser ended by itself. */
  readonly hasEnded: boolean;
}) {
  const [problem, setProblem] = useState<string>();
  const [asksCode, setAsksCode] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [isByCode, setByCode] = useState(false);
  // The title of a page would tell what the person before had open.
  useEffect(() => {
    document.title = TITLES[service.kind];
  }, []);

  async function submit(event: SubmitEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const given = Object.fromEntries([...form].filter(([, value]) => value !== '')) as unknown as Credentials;
    setBusy(true);
    setProblem(undefined);
    try {
      await props.enter(given);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const wantsCode = error instanceof ApiError && /\bcode\b/i.test(message) && !asksCode;
      if (wantsCode) setAsksCode(true);
      else setProblem(wordsOf(error, message));
    } finally {
      setBusy(false);
    }
  }

  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder shadow="sm" p="xl" w={380} maw="100%" radius="md">
        <Stack>
          <div>
            <Title order={1} size="h2">
              {TITLES[service.kind]}
            </Title>
            <Text c="dimmed" size="sm">
              {isByCode ? 'Set a password with a code.' : 'Sign in to see and run your storage.'}
            </Text>
          </div>
          {isByCode ? (
            <FirstPassword enter={props.enter} back={() => setByCode(false)} />
          ) : (
            <form onSubmit={(event) => void submit(event)}>
              <Stack>
                {props.hasEnded && problem === undefined && (
                  <Alert color="blue" variant="light" role="alert">
                    You were signed out: the session ended, or your rights changed. Sign in again to go on where you
                    were.
                  </Alert>
                )}
                {problem !== undefined && (
                  <Alert color="red" variant="light" role="alert">
                    {problem}
                  </Alert>
                )}
                <TextInput name="username" label="User name" autoComplete="username" required autoFocus />
                <PasswordInput name="password" label="Password" autoComplete="current-password" required />
                {service.kind === 'objects' && (
                  <TextInput
                    name="account"
                    label="Account"
                    description="Leave it empty to sign in as an administrator of the array"
                  />
                )}
                {asksCode && (
                  <TextInput
                    name="code"
                    label="Code"
                    description="Six digits from your authenticator, or a recovery code"
                    autoComplete="one-time-code"
                    inputMode="numeric"
                    required
                    autoFocus
                  />
                )}
                <Button type="submit" loading={isBusy}>
                  Sign in
                </Button>
                {service.kind === 'objects' && (
                  <Button variant="subtle" size="xs" onClick={() => setByCode(true)}>
                    Set a password with a code
                  </Button>
                )}
              </Stack>
            </form>
          )}
        </Stack>
      </Paper>
    </Center>
  );
}
