import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Failed } from '../../parts/messages.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Facts } from '../../parts/small.tsx';
import { loggingDocument, type Logging, type LogNames } from '../s3/settings.ts';
import { loggingOf } from '../s3/settings-read.ts';
import { s3Key, useS3 } from '../s3/use.ts';
import { asText, Setting, SettingDialog, XmlEditor, type Shown } from './setting.tsx';

const NAMES: readonly { readonly value: LogNames; readonly label: string }[] = [
  { value: 'simple', label: 'prefix, time of delivery' },
  { value: 'EventTime', label: 'folders by the day of the requests' },
  { value: 'DeliveryTime', label: 'folders by the day of delivery' },
];

/** Whether requests to the bucket are written down in another one. */
export function BucketLog({ bucket }: { readonly bucket: string }) {
  return (
    <Setting<ReturnType<typeof loggingOf>, Logging | string> bucket={bucket} name="logging" read={loggingOf}>
      {(shown) =>
        shown.value.isWhole ? (
          <Log bucket={bucket} shown={shown} logging={shown.value.logging} />
        ) : (
          <XmlEditor about="The log is open to others by grants, which the form does not have." shown={asText(shown)} />
        )
      }
    </Setting>
  );
}

interface LogProps {
  readonly bucket: string;
  readonly shown: Shown<unknown, Logging | string>;
  readonly logging: Logging | undefined;
}

function Log({ bucket, shown, logging }: LogProps) {
  const edited = typeof shown.edited === 'object' ? shown.edited : undefined;
  const open = () => shown.edit(logging ?? { bucket: '', prefix: `${bucket}/`, names: 'simple' });
  return (
    <Stack gap="sm">
      {logging ? (
        <Facts
          of={[
            [
              'Destination',
              <PageLink key="to" to={`/buckets/${logging.bucket}`}>
                {logging.bucket}
              </PageLink>,
            ],
            ['Key prefix', logging.prefix || 'none'],
            ['Object names', NAMES.find(({ value }) => value === logging.names)?.label ?? logging.names],
          ]}
        />
      ) : (
        <Text size="sm" c="dimmed">
          Requests to this bucket are not logged.
        </Text>
      )}
      {!edited && shown.error && <Failed error={shown.error} />}
      <Group>
        <Button variant="default" onClick={open}>
          {logging ? 'Change the log' : 'Switch the log on'}
        </Button>
        {logging && (
          <Button
            variant="default"
            loading={shown.isBusy}
            onClick={() => shown.save(loggingDocument(undefined), 'Requests are no longer logged.')}
          >
            Switch the log off
          </Button>
        )}
      </Group>
      {edited && <LogDialog logging={edited} shown={shown} />}
    </Stack>
  );
}

function LogDialog({ logging, shown }: { readonly logging: Logging; readonly shown: LogProps['shown'] }) {
  const change = (part: Partial<Logging>) => shown.edit({ ...logging, ...part });
  const s3 = useS3();
  const buckets = useQuery({ queryKey: s3Key(s3), queryFn: () => s3.buckets() });
  const document = loggingDocument(logging);
  return (
    <SettingDialog
      title="Access log"
      problem={logging.bucket === '' ? 'Choose the destination bucket.' : undefined}
      error={shown.error}
      isBusy={shown.isBusy}
      sent={document}
      submit="Save"
      save={() => shown.save(document, 'Requests are logged from now on, in objects about every minute.')}
      close={() => shown.edit(undefined)}
    >
      <Select
        label="Destination bucket"
        description="Another one keeps the log apart from the objects"
        data={buckets.data?.map(({ name }) => name) ?? []}
        value={logging.bucket === '' ? null : logging.bucket}
        onChange={(value) => change({ bucket: value ?? '' })}
        searchable
        limit={200}
        required
      />
      <TextInput
        label="Key prefix"
        value={logging.prefix}
        onChange={(event) => change({ prefix: event.currentTarget.value })}
      />
      <Select
        label="Object names"
        data={[...NAMES]}
        value={logging.names}
        onChange={(value) => value && change({ names: value })}
        allowDeselect={false}
      />
    </SettingDialog>
  );
}
