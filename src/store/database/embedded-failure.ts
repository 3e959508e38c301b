/**
 * Says in words what the embedded database threw. Its file system throws objects that are no Error and hold only the
 * number of an error of the operating system, as WebAssembly's system interface (WASI) numbers them.
 */

const errors: Readonly<Record<number, string>> = {
  2: 'permission denied (EACCES)',
  19: 'the disk quota is used up (EDQUOT)',
  22: 'a file would become too large (EFBIG)',
  29: 'input/output error (EIO)',
  33: 'too many open files (EMFILE)',
  41: 'too many open files on this machine (ENFILE)',
  51: 'no space left on device (ENOSPC)',
  63: 'operation not permitted (EPERM)',
  69: 'read-only file system (EROFS)',
}

/** One line about a thrown value. */
export function describeFailure(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return String(thrown)
  const { name, message, errno } = thrown as { name?: unknown; message?: unknown; errno?: unknown }
  if (typeof errno === 'number') return errors[errno] ?? `error ${errno} of the file system`
  if (typeof message === 'string' && message !== '') return message
  return typeof name === 'string' && name !== '' ? name : 'an unknown error'
}
