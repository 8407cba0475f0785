import { Alert, Button, Code, Group, Stack, Text, Textarea } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode, type SubmitEvent } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { Failed, Loading } from '../../parts/messages.tsx';
import { readXml } from '../s3/replies.ts';
import { s3Key, useS3, useS3Act } from '../s3/use.ts';

/** What a form of one setting works with. */
export interface Shown<T> {
  readonly value: T;
  /** As S3 has it; null where it was never set. */
  readonly document: string | null;
  /** Undefined takes the setting away. */
  readonly save: (document: string | undefined, said: string, onDone?: () => void) => void;
  readonly isBusy: boolean;
  readonly error: Error | null;
  /** Forgets an earlier refusal, as a form is opened again. */
  readonly reset: () => void;
  /** A header of the answer to the last change; null where there was none. */
  readonly answered: (header: string) => string | null;
}

interface SettingProps<T> {
  readonly bucket: string;
  /** What S3 calls it in the query, such as `cors`. */
  readonly name: string;
  readonly read: (root: Element | undefined) => T;
  readonly children: (shown: Shown<T>) => ReactNode;
}

/** One setting of a bucket: it is read, shown, and read again when it was changed. */
export function Setting<T>({ bucket, name, read, children }: SettingProps<T>) {
  const s3 = useS3();
  const reading = useQuery({
    queryKey: s3Key(s3, bucket, name),
    queryFn: async () => (await s3.document(bucket, name)) ?? null,
  });
  const saving = useS3Act(bucket, (at, document: string | undefined) => at.setDocument(bucket, name, document));
  if (reading.isPending) return <Loading />;
  if (reading.isError) return <Failed error={reading.error} retry={() => void reading.refetch()} />;
  const save = (document: string | undefined, said: string, onDone?: () => void) =>
    saving.mutate(document, {
      onSuccess: () => {
        notifications.show({ color: 'teal', message: said });
        onDone?.();
      },
    });
  const value = read(reading.data === null ? undefined : readXml(reading.data));
  const { isPending: isBusy, error, reset, data: answer } = saving;
  const answered = (header: string) => answer?.header(header) ?? null;
  return children({ value, document: reading.data, save, isBusy, error, reset, answered });
}

interface SettingDialogProps {
  readonly title: string;
  /** Why it cannot be saved; shown once somebody tried. */
  readonly problem: string | undefined;
  readonly error: Error | null;
  readonly isBusy: boolean;
  /** The document as it is sent. */
  readonly sent?: string | undefined;
  readonly submit: string;
  readonly save: () => void;
  readonly close: () => void;
  readonly children: ReactNode;
}

export function SettingDialog({
  title,
  problem,
  error,
  isBusy,
  sent,
  submit,
  save,
  close,
  children,
}: SettingDialogProps) {
  const [isAsked, setAsked] = useState(false);
  function send(event: SubmitEvent): void {
    event.preventDefault();
    setAsked(true);
    if (problem === undefined) save();
  }
  return (
    <Dialog opened onClose={close} title={title} size="lg">
      <form onSubmit={send} noValidate>
        <Stack>
          {children}
          {isAsked && problem !== undefined && <Failed error={new Error(problem)} />}
          {error && <Failed error={error} />}
          {sent !== undefined && (
            <>
              <Text size="xs" c="dimmed">
                As it is sent
              </Text>
              <Code block mah={200} className="command" tabIndex={0}>
                {sent}
              </Code>
            </>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={isBusy}>
              {submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

/** What a form does not know is changed as text; what is wrong with it, S3 says. */
export function XmlEditor({ about, shown }: { readonly about?: string; readonly shown: Shown<unknown> }) {
  const [typed, setTyped] = useState<string>();
  const text = typed ?? shown.document ?? '';
  return (
    <Stack gap="xs">
      {about !== undefined && (
        <Alert color="yellow" variant="light">
          {about}
        </Alert>
      )}
      <Textarea
        label="As XML"
        value={text}
        onChange={(event) => setTyped(event.currentTarget.value)}
        error={typed === undefined ? undefined : xmlProblem(typed)}
        autosize
        minRows={6}
        maxRows={24}
        spellCheck={false}
        ff="monospace"
      />
      {shown.error && <Failed error={shown.error} />}
      <Group>
        <Button
          disabled={typed === undefined || xmlProblem(typed) !== undefined}
          loading={shown.isBusy}
          onClick={() => shown.save(text.trim() === '' ? undefined : text, 'It is saved.', () => setTyped(undefined))}
        >
          Save
        </Button>
      </Group>
    </Stack>
  );
}

/** Nothing at all takes the setting away. */
function xmlProblem(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  const problem = new DOMParser().parseFromString(text, 'application/xml').querySelector('parsererror');
  return problem ? `This is not XML: ${problem.textContent.split('\n').slice(0, 2).join(' ')}` : undefined;
}
