import { Button, Checkbox, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { useIdentity } from '../../app/identity.tsx';
import { useState } from 'react';
import { Question } from '../../parts/question.tsx';
import { Failed, Loading } from '../../parts/messages.tsx';
import { Facts } from '../../parts/small.tsx';
import { replicationDocument, type ReplicationRule } from '../s3/settings.ts';
import { replicationOf } from '../s3/settings-read.ts';
import { Setting, SettingDialog, type Shown } from './setting.tsx';

/** Where new objects of a bucket are copied to. */
export function Replication({ bucket }: { readonly bucket: string }) {
  const accountId = useIdentity('objects')?.accountId;
  const granted = useRead(
    objects.destinations.listGranted,
    { account_id: accountId ?? '' },
    { enabled: accountId !== undefined },
  );
  if (granted.isError) return <Failed error={granted.error} retry={() => void granted.refetch()} />;
  if (granted.isPending && accountId !== undefined) return <Loading />;
  return (
    <Setting<ReplicationRule | undefined, ReplicationRule> bucket={bucket} name="replication" read={replicationOf}>
      {(shown) => <Rule bucket={bucket} shown={shown} endpoints={granted.data?.endpoints ?? []} />}
    </Setting>
  );
}

interface Endpoint {
  readonly ext_name: string;
  readonly display_name: string;
  readonly prefix: string;
}

interface RuleProps {
  readonly bucket: string;
  readonly shown: Shown<ReplicationRule | undefined, ReplicationRule>;
  readonly endpoints: readonly Endpoint[];
}

function Rule({ bucket, shown, endpoints }: RuleProps) {
  const { value: rule, edited, edit, save, isBusy, error } = shown;
  const [isAsked, setAsked] = useState(false);
  const open = () => edit(rule ?? { ...NEW, endpoint: endpoints[0]?.ext_name ?? '', targetBucket: bucket });
  return (
    <Stack gap="sm">
      {rule ? (
        <RuleFacts rule={rule} endpoints={endpoints} />
      ) : (
        <Text size="sm" c="dimmed">
          {endpoints.length === 0
            ? 'Objects are not copied to another place. For that the administrator of the array grants this account a remote endpoint.'
            : 'Objects are not copied to another place.'}
        </Text>
      )}
      {!edited && error && <Failed error={error} />}
      {isAsked && (
        <Question
          title="End the replication?"
          act="End it"
          onAct={() => save(undefined, 'Nothing more is replicated. What is there stays.')}
          close={() => setAsked(false)}
        >
          What is written or deleted from now on is not passed on. The copies that are there stay.
        </Question>
      )}
      <Group>
        {(rule !== undefined || endpoints.length > 0) && (
          <Button variant="default" onClick={open}>
            {rule ? 'Change replication' : 'Replicate this bucket'}
          </Button>
        )}
        {rule && (
          <Button variant="default" loading={isBusy} onClick={() => setAsked(true)}>
            End replication
          </Button>
        )}
      </Group>
      {edited && <RuleDialog rule={edited} endpoints={endpoints} shown={shown} />}
    </Stack>
  );
}

const NEW = { id: 'replication', isOn: true, prefix: '', deletes: true } as const;

function RuleFacts({ rule, endpoints }: { readonly rule: ReplicationRule; readonly endpoints: readonly Endpoint[] }) {
  const endpoint = endpoints.find(({ ext_name: name }) => name === rule.endpoint);
  const to = endpoint
    ? `${endpoint.display_name} (${rule.endpoint})`
    : `${rule.endpoint}, which this account may not use`;
  return (
    <Facts
      of={[
        ['State', rule.isOn ? 'on' : 'off'],
        ['Remote endpoint', to],
        ['Destination bucket', rule.targetBucket],
        ['Key prefix there', endpoint?.prefix || 'none'],
        ['Key prefix', rule.prefix || 'anything'],
        ['Deletions', rule.deletes ? 'are passed on' : 'are not passed on'],
      ]}
    />
  );
}

interface RuleDialogProps {
  readonly rule: ReplicationRule;
  readonly endpoints: readonly Endpoint[];
  readonly shown: Shown<unknown, ReplicationRule>;
}

function RuleDialog({ rule, endpoints, shown }: RuleDialogProps) {
  const change = (part: Partial<ReplicationRule>) => shown.edit({ ...rule, ...part });
  const document = replicationDocument(rule);
  const problem =
    rule.endpoint === ''
      ? 'Choose a remote endpoint.'
      : rule.targetBucket.trim() === ''
        ? 'Name the bucket at the remote endpoint.'
        : undefined;
  return (
    <SettingDialog
      title="Replication"
      problem={problem}
      error={shown.error}
      isBusy={shown.isBusy}
      sent={document}
      submit="Save replication"
      save={() => shown.save(document, 'The rule is saved. It is about what is written from now on.')}
      close={() => shown.edit(undefined)}
    >
      <Text size="sm">
        Objects that are written from now on are copied; those that are there already are not. The page of an object
        says how far it is.
      </Text>
      <Select
        label="Remote endpoint"
        data={endpoints.map(({ ext_name: value, display_name: label }) => ({ value, label }))}
        value={rule.endpoint === '' ? null : rule.endpoint}
        onChange={(value) => change({ endpoint: value ?? '' })}
        allowDeselect={false}
        required
      />
      <TextInput
        label="Destination bucket"
        description="It has to be there already"
        value={rule.targetBucket}
        onChange={(event) => change({ targetBucket: event.currentTarget.value })}
        required
      />
      <TextInput
        label="Key prefix"
        description="Empty for all objects of the bucket"
        value={rule.prefix}
        onChange={(event) => change({ prefix: event.currentTarget.value })}
      />
      <Checkbox
        label="Pass deletions on"
        description="Without, what is deleted here stays there"
        checked={rule.deletes}
        onChange={(event) => change({ deletes: event.currentTarget.checked })}
      />
      <Checkbox
        label="The rule is on"
        checked={rule.isOn}
        onChange={(event) => change({ isOn: event.currentTarget.checked })}
      />
    </SettingDialog>
  );
}
