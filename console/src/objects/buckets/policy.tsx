import { Button, Group, Select, Stack, Text, Textarea } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { useDraft } from '../../app/drafts.ts';
import { Failed, Loading } from '../../parts/messages.tsx';
import { s3Key, useS3, useS3Act } from '../s3/use.ts';
import { POLICY_EXAMPLES, policyProblem } from './policy-text.ts';

/** Who may do what with a bucket, as JSON with checks before it is sent. */
export function PolicyEditor({ bucket }: { readonly bucket: string }) {
  const s3 = useS3();
  const [typed, setTyped] = useDraft<string | undefined>(`policy ${bucket}`, () => undefined);
  const reading = useQuery({
    queryKey: s3Key(s3, bucket, 'policy'),
    queryFn: async () => pretty((await s3.document(bucket, 'policy')) ?? ''),
  });
  const saving = useS3Act(bucket, (at, text: string | undefined) => at.setDocument(bucket, 'policy', text));
  if (reading.isPending) return <Loading />;
  if (reading.isError) return <Failed error={reading.error} retry={() => void reading.refetch()} />;
  const text = typed ?? reading.data;
  const problem = typed === undefined || typed === '' ? undefined : policyProblem(typed, bucket);
  const save = (next: string | undefined, said: string) =>
    saving.mutate(next, {
      onSuccess: () => {
        setTyped(undefined);
        notifications.show({ color: 'teal', message: said });
      },
    });
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {reading.data === ''
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
          if (example) setTyped(pretty(JSON.stringify(example.make(bucket))));
        }}
        maw={360}
      />
      <Textarea
        label="Policy (JSON)"
        value={text}
        onChange={(event) => setTyped(event.currentTarget.value)}
        error={problem}
        autosize
        minRows={6}
        maxRows={24}
        spellCheck={false}
        ff="monospace"
      />
      {saving.error && <Failed error={saving.error} />}
      <Group>
        <Button
          disabled={typed === undefined || typed === '' || problem !== undefined}
          loading={saving.isPending}
          onClick={() => save(text, 'The policy is saved.')}
        >
          Save policy
        </Button>
        {reading.data !== '' && (
          <Button variant="default" onClick={() => save(undefined, 'The policy is removed.')}>
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
