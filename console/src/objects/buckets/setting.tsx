import { Alert, Button, Code, Group, Stack, Text, Textarea } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { failureOf } from '../../api/last-known.ts';
import { useState, type ReactNode, type SubmitEvent } from 'react';
import { useDraft } from '../../app/drafts.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Failed, Loading } from '../../parts/messages.tsx';
import type { Of, S3 } from '../s3/client.ts';
import { readXml } from '../s3/replies.ts';
import { ChangedMeanwhile, writeUnchanged, type Stored } from '../s3/stored.ts';
import { s3Key, useS3, useS3Act } from '../s3/use.ts';
import { Changed } from './changed.tsx';

/** What a form of one setting works with. */
export interface Shown<T, E = never> {
  /** While somebody edits it, as it was when that began. */
  readonly value: T;
  /** As S3 has it; null where it was never set. */
  readonly document: string | null;
  /** What somebody made of it and did not save yet. */
  readonly edited: E | undefined;
  /** Undefined ends the editing. */
  readonly edit: (next: E | undefined) => void;
  /** Undefined takes the setting away. What was edited is saved by that. */
  readonly save: (document: string | undefined, said: string) => void;
  readonly isBusy: boolean;
  readonly error: Error | null;
  /** A header of the answer to the last change; null where there was none. */
  readonly answered: (header: string) => string | null;
}

/** What is edited, with the setting that it was made from. */
interface Edit<E> {
  readonly seen: Stored;
  readonly value: E;
}

interface Change {
  readonly seen: Stored;
  readonly document: string | undefined;
  readonly said: string;
}

interface SettingProps<T, E> {
  readonly bucket: string;
  /** What S3 calls it in the query, such as `cors`. */
  readonly name: string;
  /** Of a version of an object instead of the bucket. */
  readonly of?: Of;
  readonly read: (root: Element | undefined) => T;
  /** How it is written, where that is not by its document. */
  readonly write?: (s3: S3, document: string | undefined) => ReturnType<S3['setDocument']>;
  readonly children: (shown: Shown<T, E>) => ReactNode;
}

export function Setting<T, E = never>({ read, ...props }: SettingProps<T, E>) {
  return <TextSetting<T, E> {...props} read={(document) => read(document === null ? undefined : readXml(document))} />;
}

type TextSettingProps<T, E> = Omit<SettingProps<T, E>, 'read'> & {
  readonly read: (document: string | null) => T;
};

/**
 * One setting of a bucket: it is read, shown, edited, and read again when it was changed. What somebody else saved since
 * it was read is not overwritten before the person has seen it.
 */
export function TextSetting<T, E = never>({ bucket, name, of = {}, read, write, children }: TextSettingProps<T, E>) {
  const s3 = useS3();
  const whose = of.key === undefined ? [] : [of.key, of.versionId ?? ''];
  const reading = useQuery({
    queryKey: s3Key(s3, bucket, name, ...whose),
    queryFn: () => s3.setting(bucket, name, of),
  });
  const [edited, setEdited] = useDraft<Edit<E> | undefined>([name, bucket, ...whose].join(' '), () => undefined);
  const saving = useS3Act(bucket, (at, { seen, document }: Change) =>
    writeUnchanged(
      seen,
      () => at.setting(bucket, name, of),
      () =>
        write?.(at, document) ??
        at.setDocument(bucket, name, document, { ...of, headers: { ...seen.headers, ...of.headers } }),
    ),
  );
  if (reading.isPending) return <Loading />;
  if (reading.data === undefined || failureOf(reading))
    return <Failed error={reading.error} retry={() => void reading.refetch()} />;
  const seen = edited?.seen ?? reading.data;
  const change = (next: Change) =>
    saving.mutate(next, {
      onSuccess: () => {
        setEdited(undefined);
        notifications.show({ color: 'teal', message: next.said });
      },
    });
  const edit = (value: E | undefined) => {
    // An earlier refusal is forgotten as a form is opened or closed.
    if (edited === undefined || value === undefined) saving.reset();
    setEdited(value === undefined ? undefined : { seen, value });
  };
  const { isPending: isBusy, error, variables, data: answer } = saving;
  if (error instanceof ChangedMeanwhile && variables !== undefined) {
    return (
      <Changed
        now={error.now}
        load={() => edit(undefined)}
        overwrite={() => change({ ...variables, seen: error.now })}
        {...(edited !== undefined && { goBack: saving.reset })}
      />
    );
  }
  return children({
    value: read(seen.document),
    document: seen.document,
    edited: edited?.value,
    edit,
    save: (document, said) => change({ seen, document, said }),
    isBusy,
    error,
    answered: (header) => answer?.header(header) ?? null,
  });
}

interface SettingDialogProps {
  readonly title: string;
  /** Why it cannot be saved; shown once somebody tried. */
  readonly problem: string | undefined;
  /** The field that has the problem says it. */
  readonly isAtField?: boolean;
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
  isAtField = false,
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
          {isAsked && problem !== undefined && !isAtField && <Failed error={new Error(problem)} />}
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

type TextShown = Shown<unknown, string>;

/** Of what is edited only the text: another form of the same setting may have been left open. */
export function asText<E>(shown: Shown<unknown, E | string>): TextShown {
  return { ...shown, edited: typeof shown.edited === 'string' ? shown.edited : undefined };
}

/** What a form does not know is changed as text; what is wrong with it, S3 says. */
export function XmlEditor({ about, shown }: { readonly about?: string; readonly shown: TextShown }) {
  const { edited, edit } = shown;
  const text = edited ?? shown.document ?? '';
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
        onChange={(event) => edit(event.currentTarget.value)}
        error={edited === undefined ? undefined : xmlProblem(edited)}
        autosize
        minRows={6}
        maxRows={24}
        spellCheck={false}
        ff="monospace"
      />
      {shown.error && <Failed error={shown.error} />}
      <Group>
        <Button
          disabled={edited === undefined || xmlProblem(edited) !== undefined}
          loading={shown.isBusy}
          onClick={() => shown.save(text.trim() === '' ? undefined : text, 'It is saved.')}
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
