import { fail, type HostedConfiguration, type HostedDrive } from '@granary/kernel';
import { controllerOfDrive } from '../engine/controller-spec.ts';
import type { ObjectEngine } from '../engine/engine.ts';
import type { DriveReport } from '../engine/report.ts';
import { driveName } from './names.ts';

interface DrivesOptions {
  readonly engine: ObjectEngine;
  readonly configuration: () => HostedConfiguration;
}

/** A drive as the cloud gave it, with how it is now. */
export interface KnownDrive {
  readonly name: string;
  readonly drive: HostedDrive;
  /** Absent until it has joined its policy. */
  readonly report: DriveReport | undefined;
  /** Name of the controller that looks after it. */
  readonly controller: string | null;
  readonly policy: string | null;
  readonly policyType: string | null;
  readonly zoneId: number;
}

/** Of a zone that its cloud no longer has. */
export const UNKNOWN_ZONE = 0;

export class ObjectDriveService {
  readonly #options: DrivesOptions;

  constructor(options: DrivesOptions) {
    this.#options = options;
  }

  /** In the order in which the array got them. */
  list(): KnownDrive[] {
    const { engine, configuration } = this.#options;
    // Of drives that an engine looks after by itself the array knows nothing.
    if (!engine.drives) return [];
    const { drives, policies, zoneIds } = configuration();
    const reports = newestByUuid(engine.drives.list());
    const controllers = engine.controllers?.list() ?? [];
    return drives.map((drive) => {
      const policy = policies.find(({ name }) => name === drive.policy) ?? policies[0];
      return {
        name: driveName(drive),
        drive,
        report: reports.get(drive.uuid),
        controller: controllerOfDrive(drive.node, controllers)?.name ?? null,
        policy: policy?.name ?? null,
        policyType: policy?.typeName ?? null,
        zoneId: zoneIds[drive.zone] ?? UNKNOWN_ZONE,
      };
    });
  }

  /** By its name or its uuid. */
  get(id: string): KnownDrive {
    const found = this.list().find(({ name, drive }) => name === id || drive.uuid === id);
    if (!found) throw fail('objs_drive_not_found', { id });
    return found;
  }
}

/** A drive that came back empty has a newer number, and only that one counts. */
function newestByUuid(reports: readonly DriveReport[]): Map<string, DriveReport> {
  return new Map([...reports].sort((a, b) => a.number - b.number).map((report) => [report.uuid, report]));
}
