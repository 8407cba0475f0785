import { Anchor, Button, Card, Code, Group, List, Stack, Text, TextInput, Title } from '@mantine/core';
import { useState, type SubmitEvent } from 'react';
import { portal } from '../api/portal.ts';
import { useAct } from '../api/queries.ts';
import { ActionButton } from '../contract/action.tsx';
import { Failed } from '../parts/messages.tsx';
import { QrCode } from '../parts/qr-code.tsx';
import { Copy } from '../parts/small.tsx';

interface Begun {
  readonly secret: string;
  readonly otpauth_uri: string;
}

/** A code of an authenticator app beside the password. */
export function SecondFactor({ isOn, codesLeft }: { readonly isOn: boolean; readonly codesLeft: number | null }) {
  const [begun, setBegun] = useState<Begun>();
  const [codes, setCodes] = useState<readonly string[]>();
  return (
    <Card withBorder>
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4">
          Second factor
        </Title>
        {isOn ? (
          <ActionButton
            op={portal.me.removeTotp}
            label="Switch off"
            isSmall
            labels={{ code: 'Code of the app, or a recovery code' }}
            about="Signing in takes the password alone again."
            said="The second factor is off."
            onDone={() => {
              setBegun(undefined);
              setCodes(undefined);
            }}
          />
        ) : (
          !begun && (
            <ActionButton
              op={portal.me.startTotp}
              label="Set up"
              isSmall
              labels={{ current_password: 'Your password' }}
              about="You need an authenticator app on your phone or computer."
              said="Enter the secret into your app now."
              onDone={({ value }) => setBegun(value?.data)}
            />
          )
        )}
      </Group>
      {isOn && !codes && (
        <Text size="sm">Signing in takes a code of your app. {codesLeft} recovery codes are left.</Text>
      )}
      {!isOn && !begun && (
        <Text size="sm" c="dimmed">
          With it, a stolen password alone opens nothing.
        </Text>
      )}
      {begun && !codes && <Confirm begun={begun} onCodes={setCodes} />}
      {codes && <RecoveryCodes codes={codes} />}
    </Card>
  );
}

function Confirm({ begun, onCodes }: { readonly begun: Begun; readonly onCodes: (codes: readonly string[]) => void }) {
  const [code, setCode] = useState('');
  const confirming = useAct(portal.me.confirmTotp);

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const { value } = await confirming.mutateAsync({ code });
    if (value) onCodes(value.data.recovery_codes);
  }

  return (
    <form onSubmit={(event) => void submit(event).catch(() => undefined)}>
      <Stack>
        <Text size="sm">
          Scan this with your authenticator app, <Anchor href={begun.otpauth_uri}>open it there</Anchor>, or type the
          secret into it. Then enter the code that the app shows.
        </Text>
        <QrCode text={begun.otpauth_uri} label="QR code of the secret below" />
        <Group gap="xs">
          <Code>{begun.secret}</Code>
          <Copy text={begun.secret} label="Copy the secret" />
        </Group>
        <TextInput
          label="Code"
          inputMode="numeric"
          autoComplete="one-time-code"
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          required
          maw={200}
        />
        {confirming.error && <Failed error={confirming.error} />}
        <Button type="submit" w="fit-content" loading={confirming.isPending}>
          Switch on
        </Button>
      </Stack>
    </form>
  );
}

function RecoveryCodes({ codes }: { readonly codes: readonly string[] }) {
  return (
    <Stack gap="xs">
      <Text size="sm">
        It is on. Keep these recovery codes where you find them without your device; each works once.
      </Text>
      <List size="sm">
        {codes.map((code) => (
          <List.Item key={code}>
            <Code>{code}</Code>
          </List.Item>
        ))}
      </List>
      <Copy text={codes.join('\n')} label="Copy the codes" />
    </Stack>
  );
}
