import { Button, Group, Select, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { Failed } from '../../parts/messages.tsx';
import { Question } from '../../parts/question.tsx';
import { openedToAll, POLICY_EXAMPLES, policyProblem } from './policy-text.ts';
import { TextSetting, type Shown } from './setting.tsx';

/** Who may do what with a bucket, as JSON with checks before it is sent. */
export function PolicyEditor({ bucket }: { readonly bucket: string }) {
  return (
    <TextSetting<string, string> bucket={bucket} name="policy" read={(document) => pretty(document ?? '')}>
      {(shown) => <Policy bucket={bucket} shown={shown} />}
    </TextSetting>
  );
}

function Policy({ bucket, shown }: { readonly bucket: string; readonly shown: Shown<string, string> }) {
  const { value, edited, edit, save, isBusy, error } = shown;
  const problem = edited === undefined || edited === '' ? undefined : policyProblem(edited, bucket);
  const [asked, setAsked] = useState<'open' | 'remove'>();
  const opened = edited === undefined || edited === '' || problem !== undefined ? [] : openedToAll(edited);
  const saveIt = () => save(edited, 'The policy is saved.');
  return (
    <Stack gap="sm">
      {asked === 'open' && (
        <Question
          title="Open the bucket to everyone?"
          act="Save and open it"
          onAct={saveIt}
          close={() => setAsked(undefined)}
        >
          Anyone who reaches the array may do this without signing in: {opened.join(', ')}. Where the public access of
          the bucket is blocked, it stays so.
        </Question>
      )}
      {asked === 'remove' && (
        <Question
          title="Remove the policy?"
          act="Remove"
          onAct={() => save(undefined, 'The policy is removed.')}
          close={() => setAsked(undefined)}
        >
          Whom it let in is kept out, and what it denied is allowed again to the users of the account.
        </Question>
      )}
      <Text size="sm" c="dimmed">
        {value === ''
          ? 'There is no policy: users of the account have the bucket to themselves.'
          : 'What it denies is denied to users of the account, too.'}
      </Text>
      <Select
        label="Begin with an example"
        placeholder="Choose one"
        data={POLICY_EXAMPLES.map(({ label }) => label)}
        value={null}
        onChange={(label) => {
          const example = POLICY_EXAMPLES.find((one) => one.label === label);
          if (example) edit(pretty(JSON.stringify(example.make(bucket))));
        }}
        maw={360}
      />
      <Textarea
        label="Policy (JSON)"
        value={edited ?? value}
        onChange={(event) => edit(event.currentTarget.value)}
        error={problem}
        autosize
        minRows={6}
        maxRows={24}
        spellCheck={false}
        ff="monospace"
      />
      {error && <Failed error={error} />}
      <Group>
        <Button
          disabled={edited === undefined || edited === '' || problem !== undefined}
          loading={isBusy}
          onClick={() => (opened.length > 0 ? setAsked('open') : saveIt())}
        >
          Save policy
        </Button>
        {value !== '' && (
          <Button variant="default" onClick={() => setAsked('remove')}>
            Remove policy
          </Button>
        )}
      </Group>
    </Stack>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
