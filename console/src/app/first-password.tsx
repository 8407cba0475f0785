import { Alert, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useRef, useState, type SubmitEvent } from 'react';
import { enteringByCode, mailPasswordCode } from './password-code.ts';
import type { Credentials } from './session.tsx';

const NOTHING = { account: '', username: '', code: '', password: '' };

/** Sets a password with a code that an administrator handed over, or that came by mail, and signs in with it. */
export function FirstPassword(props: {
  readonly enter: (credentials: Credentials) => Promise<void>;
  readonly back: () => void;
}) {
  const [typed, setTyped] = useState(NOTHING);
  const [said, setSaid] = useState<{ readonly text: string; readonly isProblem: boolean }>();
  const [isBusy, setBusy] = useState(false);
  const { account, username } = typed;
  const enterByCode = useRef(enteringByCode()).current;

  async function run(work: () => Promise<string | undefined>): Promise<void> {
    setBusy(true);
    setSaid(undefined);
    try {
      const text = await work();
      if (text !== undefined) setSaid({ text, isProblem: false });
    } catch (error) {
      const text = error instanceof Error && !(error instanceof TypeError) ? error.message : UNANSWERED;
      setSaid({ text, isProblem: true });
    } finally {
      setBusy(false);
    }
  }

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    void run(async () => {
      await enterByCode(typed, props.enter);
      return undefined;
    });
  }

  const mail = () =>
    run(async () => {
      await mailPasswordCode({ account, username });
      return 'If there is such a user, a code is on its way to the mail address of the user.';
    });
  const field = (name: keyof typeof NOTHING) => ({
    value: typed[name],
    onChange: ({ currentTarget: { value } }: { currentTarget: { value: string } }) =>
      setTyped((before) => ({ ...before, [name]: value })),
    required: true,
  });

  return (
    <form onSubmit={submit}>
      <Stack>
        <Text c="dimmed" size="sm">
          A new user gets a code from an administrator. It sets the password, works once and for a day.
        </Text>
        {said && (
          <Alert color={said.isProblem ? 'red' : 'blue'} variant="light" role="alert">
            {said.text}
          </Alert>
        )}
        <TextInput label="Account" autoFocus {...field('account')} />
        <TextInput label="User name" autoComplete="username" {...field('username')} />
        <TextInput label="Code" autoComplete="one-time-code" {...field('code')} />
        <PasswordInput label="New password" autoComplete="new-password" {...field('password')} />
        <Button type="submit" loading={isBusy}>
          Set the password
        </Button>
        <Button
          variant="subtle"
          size="xs"
          disabled={account === '' || username === '' || isBusy}
          onClick={() => void mail()}
        >
          Mail me a code
        </Button>
        <Button variant="subtle" size="xs" onClick={props.back}>
          Back to signing in
        </Button>
      </Stack>
    </form>
  );
}

const UNANSWERED = 'The service does not answer. See that it is running, then try again.';
