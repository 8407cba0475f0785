import { Anchor, Button, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type SubmitEvent } from 'react';
import { useBase, useGo } from '../../app/base.ts';
import { useDraft } from '../../app/drafts.ts';
import { useIdentity } from '../../app/identity.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { IconPlus } from '../../parts/icons.tsx';
import { Empty, Failed, Loading, PageHead } from '../../parts/messages.tsx';
import { Copy, Time } from '../../parts/small.tsx';
import { DataTable, type Column } from '../../parts/table.tsx';
import { useS3Address } from '../accounts/s3-address.ts';
import { bucketNameProblem } from '../s3/paths.ts';
import type { Bucket } from '../s3/replies.ts';
import { s3Key, useS3, useS3Act } from '../s3/use.ts';

/** A new bucket as its form has it. */
interface MadeBucket {
  readonly name: string;
  readonly isLocked: boolean;
}

/** The buckets of the account that the person belongs to. */
export default function Buckets() {
  const s3 = useS3();
  const [made, setMade] = useDraft<MadeBucket | undefined>('new bucket', () => undefined);
  const open = () => setMade({ name: '', isLocked: false });
  const { accountName: account, accountId } = useIdentity('objects') ?? {};
  const address = useS3Address(accountId);
  const list = useQuery({ queryKey: s3Key(s3), queryFn: () => s3.buckets() });
  const about = account === undefined ? 'What your account keeps.' : `What the account ${account} keeps.`;
  return (
    <>
      <PageHead title="Buckets" about={address === undefined ? about : <Reached about={about} address={address} />}>
        <Button leftSection={<IconPlus />} onClick={open}>
          New bucket
        </Button>
      </PageHead>
      {list.isPending && <Loading />}
      {list.isError && <Failed error={list.error} retry={() => void list.refetch()} />}
      {list.data && <BucketTable buckets={list.data} create={open} />}
      {made && <NewBucket made={made} change={setMade} close={() => setMade(undefined)} />}
    </>
  );
}

/** With what a program needs beside its keys. */
function Reached({ about, address }: { readonly about: string; readonly address: string }) {
  const base = useBase();
  return (
    <Group gap={4}>
      {about} S3 endpoint: {address} <Copy text={address} label="Copy the S3 endpoint" />
      <Anchor component={Link} to={`${base}/users`} size="sm">
        Keys
      </Anchor>
    </Group>
  );
}

function BucketTable({ buckets, create }: { readonly buckets: readonly Bucket[]; readonly create: () => void }) {
  const base = useBase();
  const columns: readonly Column<Bucket>[] = [
    {
      name: 'name',
      heading: 'Name',
      value: ({ name }) => name,
      cell: ({ name }) => (
        <Anchor component={Link} to={`${base}/buckets/${name}`}>
          {name}
        </Anchor>
      ),
    },
    {
      name: 'created',
      heading: 'Created',
      value: ({ created }) => created,
      cell: ({ created }) => <Time at={created} />,
    },
    {
      name: 'settings',
      heading: '',
      align: 'right',
      cell: ({ name }) => (
        <Anchor component={Link} to={`${base}/buckets/${name}/settings`} size="sm" aria-label={`Settings of ${name}`}>
          Settings
        </Anchor>
      ),
    },
  ];
  return (
    <DataTable
      label="Buckets"
      rows={buckets}
      columns={columns}
      rowKey={({ name }) => name}
      empty={
        <Empty title="There are no buckets yet." action={<Button onClick={create}>Make the first one</Button>}>
          A bucket holds objects. Programs reach it over S3 with your access key, and you can fill it here.
        </Empty>
      }
    />
  );
}

interface NewBucketProps {
  readonly made: MadeBucket;
  readonly change: (made: MadeBucket) => void;
  readonly close: () => void;
}

function NewBucket({ made, change, close }: NewBucketProps) {
  const { name, isLocked } = made;
  const [isAsked, setAsked] = useState(false);
  const go = useGo();
  const creating = useS3Act(undefined, (s3, bucket: string) => s3.createBucket(bucket, isLocked));
  const problem = bucketNameProblem(name);

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    setAsked(true);
    if (problem === undefined) creating.mutate(name, { onSuccess: () => go(`/buckets/${name}`) });
  }

  return (
    <Dialog opened onClose={close} title="New bucket">
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label="Name"
            description="3 to 63 small letters, digits, dots and hyphens"
            value={name}
            onChange={(event) => change({ ...made, name: event.currentTarget.value })}
            error={isAsked ? problem : undefined}
            required
            data-autofocus
          />
          <Checkbox
            label="Object lock"
            description="Versions can be kept from deletion for a time. It brings versioning with it and cannot be switched off again."
            checked={isLocked}
            onChange={(event) => change({ ...made, isLocked: event.currentTarget.checked })}
          />
          {creating.error && <Failed error={creating.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={creating.isPending}>
              Make bucket
            </Button>
          </Group>
          <Text size="xs" c="dimmed">
            New buckets get the array’s default storage policy.
          </Text>
        </Stack>
      </form>
    </Dialog>
  );
}
