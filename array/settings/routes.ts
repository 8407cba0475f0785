import type { ArrayHandlers } from '../handlers.ts';
import type { VolumeEncryption } from './encryption.ts';
import type { SettingsService } from './service.ts';
import type { ArraySettings } from './values.ts';

export function settingsRoutes(
  settings: SettingsService,
  encryption: VolumeEncryption,
): Pick<ArrayHandlers<'settings'>, 'get' | 'update'> {
  return {
    get: () => ({ settings: viewOf(settings.current(), encryption) }),
    update: async (input, { actor }) => {
      const change = {
        recycleBin: input.recycle_bin,
        recycleBinHours: input.recycle_bin_hours,
        suspendSeconds: input.suspend_seconds,
        cpuUsageAlert: input.cpu_usage_alert,
        memUsageAlert: input.mem_usage_alert,
        raidReadMode: input.raid_read_mode,
        migrationsMax: input.dm_concurrency_level,
        smtpHost: input.smtp_host,
        smtpPort: input.smtp_port,
        smtpSecure: input.smtp_secure,
        smtpUser: input.smtp_user,
        smtpPassword: input.smtp_password,
        smtpFrom: input.smtp_from,
        noticeTo: input.notice_to,
        noticeSeverity: input.notice_severity,
      };
      return { settings: viewOf(await settings.update(change, actor.username), encryption) };
    },
  };
}

function viewOf(settings: ArraySettings, encryption: VolumeEncryption) {
  return {
    recycle_bin: yesNo(settings.recycleBin),
    recycle_bin_hours: settings.recycleBinHours,
    suspend_seconds: settings.suspendSeconds,
    encryption_password_set: yesNo(encryption.isPasswordSet),
    is_encryption_active: yesNo(encryption.isActive),
    cpu_usage_alert: settings.cpuUsageAlert,
    mem_usage_alert: settings.memUsageAlert,
    raid_read_mode: settings.raidReadMode,
    dm_concurrency_level: settings.migrationsMax,
    smtp_host: settings.smtpHost,
    smtp_port: settings.smtpPort,
    smtp_secure: yesNo(settings.smtpSecure),
    smtp_user: settings.smtpUser,
    smtp_from: settings.smtpFrom,
    notice_to: settings.noticeTo,
    notice_severity: settings.noticeSeverity,
  };
}

function yesNo(value: boolean): 'YES' | 'NO' {
  return value ? 'YES' : 'NO';
}
