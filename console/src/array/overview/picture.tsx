import { Text, VisuallyHidden } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { useBase } from '../../app/base.ts';
import { gigabytes, percent } from '../../parts/format.ts';
import { isFree, isShare, namesIn, poolUsed, type Drive, type Pool, type RaidGroup } from '../records.ts';
import type { ListedVolume } from '../volumes/all.ts';
import { besideTitle } from './beside-title.ts';
import { shortDriveName } from './short-name.ts';
import { driveTone, groupTone, poolTone, SIGNS, volumeTone, type ArrayFacts, type Tone } from './standing.ts';

/** More volumes of a pool than these are summed in one box. */
const VOLUMES_MAX = 24;
const TONE_ORDER: readonly Tone[] = ['bad', 'warning', 'busy', 'good', 'free'];

/** Drives in their RAID groups, and below them the pools that are made of those, with what is cut from each. */
export function Picture({ facts }: { readonly facts: ArrayFacts }) {
  const { drives, groups, pools, volumes } = facts;
  const frame = useRef<HTMLDivElement>(null);
  const drivesOf = useMemo(() => Map.groupBy(drives, (drive) => drive.raid_group_name ?? ''), [drives]);
  const volumesOf = useMemo(() => Map.groupBy(volumes, (volume) => volume.pool_name), [volumes]);
  const loose = Map.groupBy(drivesOf.get('') ?? [], isFree);
  const [free = [], out = []] = [loose.get(true), loose.get(false)];
  return (
    <div className="picture" ref={frame}>
      <Connections frame={frame} pools={pools} groups={groups} />
      <Band title="Drives and RAID groups">
        {groups.map((group) => (
          <GroupBox key={group.name} group={group} drives={drivesOf.get(group.name) ?? []} />
        ))}
        {free.length > 0 && <LooseDrives title="Free drives" drives={free} />}
        {out.length > 0 && <LooseDrives title="Failed or absent, in no RAID group" drives={out} />}
      </Band>
      {pools.length > 0 && (
        <Band title="Pools, volumes and shares">
          {pools.map((pool) => (
            <PoolBox key={pool.name} pool={pool} volumes={volumesOf.get(pool.name) ?? []} groups={groups} />
          ))}
        </Band>
      )}
    </div>
  );
}

function Band({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div role="group" aria-label={title}>
      <Text size="xs" c="dimmed" mb={4} className="picture-band-title">
        {title}
      </Text>
      <div className="picture-band">{children}</div>
    </div>
  );
}

function GroupBox({ group, drives }: { readonly group: RaidGroup; readonly drives: readonly Drive[] }) {
  const tone = groupTone(group);
  const used = percent(group.capacity - group.available, group.capacity);
  return (
    <div className={`picture-card tone-${tone}`} data-group={group.name}>
      <Box
        to={`/raid-groups/${group.name}`}
        tone={tone}
        name={group.display_name}
        detail={`${group.protection}, ${gigabytes(group.capacity)}, ${group.status}`}
        fill={used}
        label={`RAID group ${group.display_name}, ${group.protection}, ${group.status}, ${Math.trunc(used)} percent in pools`}
      />
      <Drives drives={drives} />
    </div>
  );
}

function LooseDrives({ title, drives }: { readonly title: string; readonly drives: readonly Drive[] }) {
  return (
    <div className="picture-card picture-free">
      <span className="picture-title">{title}</span>
      <Drives drives={drives} />
    </div>
  );
}

function Drives({ drives }: { readonly drives: readonly Drive[] }) {
  const base = useBase();
  return (
    <div className="picture-drives">
      {drives.map((drive) => {
        const tone = driveTone(drive);
        const label = `Drive ${drive.display_name}, ${gigabytes(drive.capacity)}, ${drive.status}`;
        return (
          <Link
            key={drive.name}
            to={`${base}/drives/${drive.name}`}
            preload={false}
            className={`picture-drive tone-${tone}`}
            title={label}
          >
            <VisuallyHidden>{label} </VisuallyHidden>
            {SIGNS[tone]}
            {shortDriveName(drive)}
          </Link>
        );
      })}
    </div>
  );
}

function PoolBox(props: {
  readonly pool: Pool;
  readonly volumes: readonly ListedVolume[];
  readonly groups: readonly RaidGroup[];
}) {
  const { pool, volumes, groups } = props;
  const tone = poolTone(pool);
  const own = namesIn(pool.raid_group_name);
  const from = groups.filter(({ name }) => own.includes(name)).map(({ display_name }) => display_name);
  const used = percent(poolUsed(pool), pool.capacity);
  const { shown, rest } = useMemo(() => summed(volumes), [volumes]);
  return (
    <div className={`picture-card tone-${tone}`} data-pool={pool.name}>
      <Box
        to={`/pools/${pool.name}`}
        tone={tone}
        name={pool.display_name}
        detail={`${gigabytes(pool.available_capacity)} free of ${gigabytes(pool.capacity)}`}
        fill={used}
        label={`Pool ${pool.display_name}, ${Math.trunc(used)} percent used, ${pool.capacity_mode}, of ${from.join(', ')}`}
      />
      <div className="picture-volumes">
        {shown.map((volume) => (
          <VolumeBox key={volume.name} volume={volume} />
        ))}
        {rest.length > 0 && <RestBox pool={pool} rest={rest} isAll={shown.length === 0} />}
        {volumes.length === 0 && (
          <Text size="xs" c="dimmed">
            nothing in it yet
          </Text>
        )}
      </div>
    </div>
  );
}

/** Those that need a look first; what does not fit becomes a sum. */
function summed(volumes: readonly ListedVolume[]) {
  if (volumes.length <= VOLUMES_MAX) return { shown: volumes, rest: [] };
  const sorted = volumes.toSorted(
    (a, b) => TONE_ORDER.indexOf(volumeTone(a)) - TONE_ORDER.indexOf(volumeTone(b)) || fillOf(b) - fillOf(a),
  );
  return { shown: sorted.slice(0, VOLUMES_MAX - 1), rest: sorted.slice(VOLUMES_MAX - 1) };
}

function fillOf({ allocated_capacity, virtual_capacity }: ListedVolume): number {
  return percent(allocated_capacity, virtual_capacity);
}

function VolumeBox({ volume }: { readonly volume: ListedVolume }) {
  const tone = volumeTone(volume);
  const kind = isShare(volume) ? 'Share' : 'Volume';
  return (
    <Box
      to={`/volumes/${volume.name}`}
      tone={tone}
      name={volume.display_name}
      detail={gigabytes(volume.virtual_capacity)}
      fill={fillOf(volume)}
      label={`${kind} ${volume.display_name}, ${gigabytes(volume.virtual_capacity)}, ${Math.trunc(fillOf(volume))} percent written, ${volume.status}`}
    />
  );
}

function RestBox(props: { readonly pool: Pool; readonly rest: readonly ListedVolume[]; readonly isAll: boolean }) {
  const { pool, rest } = props;
  const size = rest.reduce((sum, { virtual_capacity }) => sum + virtual_capacity, 0);
  const used = rest.reduce((sum, { allocated_capacity }) => sum + allocated_capacity, 0);
  const text = `${rest.length.toLocaleString('en')} more`;
  return (
    <Box
      to={`/pools/${pool.name}`}
      tone="good"
      name={text}
      detail={gigabytes(size)}
      fill={percent(used, size)}
      label={`${text} volumes and shares of ${pool.display_name}, ${gigabytes(used)} of ${gigabytes(size)} written`}
    />
  );
}

interface BoxProps {
  readonly to: string;
  readonly tone: Tone;
  readonly name: string;
  readonly detail: string;
  /** Percent. */
  readonly fill: number;
  readonly label: string;
}

function Box({ to, tone, name, detail, fill, label }: BoxProps) {
  const base = useBase();
  return (
    <Link to={`${base}${to}`} preload={false} className={`picture-box tone-${tone}`} title={label}>
      <VisuallyHidden>{label} </VisuallyHidden>
      <span className="picture-fill" style={{ width: `${fill}%` }} />
      <span className="picture-name">
        {SIGNS[tone]} {name}
      </span>
      <span className="picture-detail">{detail}</span>
    </Link>
  );
}

interface Wire {
  readonly key: string;
  readonly path: string;
}

/** Lines from RAID groups to the pools that are made of them. They repeat what the labels say, so no reader needs them. */
function Connections(props: {
  readonly frame: React.RefObject<HTMLDivElement | null>;
  readonly pools: readonly Pool[];
  readonly groups: readonly RaidGroup[];
}) {
  const { frame, pools, groups } = props;
  const [wires, setWires] = useState<readonly Wire[]>([]);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const draw = () => setWires(wiresIn(element, pools));
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    draw();
    return () => observer.disconnect();
  }, [frame, pools, groups]);
  return (
    <svg className="picture-wires" aria-hidden="true">
      {wires.map(({ key, path }) => (
        <path key={key} d={path} />
      ))}
    </svg>
  );
}

function wiresIn(frame: HTMLElement, pools: readonly Pool[]): Wire[] {
  const origin = frame.getBoundingClientRect();
  const boxes = (name: 'group' | 'pool') =>
    new Map(
      [...frame.querySelectorAll<HTMLElement>(`[data-${name}]`)].map((one) => [
        one.dataset[name],
        one.getBoundingClientRect(),
      ]),
    );
  const [from, to] = [boxes('group'), boxes('pool')];
  const titles = [...frame.querySelectorAll('.picture-band-title')].map((one) => one.getBoundingClientRect());
  return pools.flatMap((pool) =>
    namesIn(pool.raid_group_name).flatMap((group) => {
      const [top, bottom] = [from.get(group), to.get(pool.name)];
      if (!top || !bottom) return [];
      const [x1, y1] = [top.left + top.width / 2 - origin.left, top.bottom - origin.top];
      const [x2, y2] = [besideTitle(bottom, titles) - origin.left, bottom.top - origin.top];
      const middle = (y1 + y2) / 2;
      return [{ key: `${group} ${pool.name}`, path: `M${x1} ${y1} C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}` }];
    }),
  );
}
