export { oneLine, subjectLine, writeNotice, type Mail, type MailedEvent } from './notice.ts';
export { checkMailAddress, checkMailServer, isMailAddress } from './rules.ts';
export { letterFile, sendBySmtp, type Letter, type MailServer } from './smtp.ts';
