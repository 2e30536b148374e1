const sentences = {
  unreachable: 'The server cannot be reached.',
  timed_out: 'The storage did not respond in time.',
  denied: 'Access was denied: the credentials or the permissions are wrong.',
  bad_key: 'The private key cannot be read: its format or its passphrase is wrong.',
  wrong_region: 'The bucket is in another region.',
  no_bucket: 'The bucket does not exist.',
  no_folder: 'The folder does not exist.',
  not_a_folder: 'The path is not a folder.',
  incomplete: 'The settings are not complete.',
  unusable: 'The storage returned an invalid response.'
} as const

export type StorageFaultReason = keyof typeof sentences

/**
 * A storage location cannot be checked or measured. The message is a fixed sentence with at most a short code
 * (`ECONNREFUSED`). The error of the client library is not attached: it may contain secrets.
 */
export class StorageFault extends Error {
  readonly reason: StorageFaultReason
  readonly code: string

  constructor(reason: StorageFaultReason, code = '') {
    const isShort = /^[\w.-]{1,64}$/.test(code)
    super(isShort ? `${sentences[reason].slice(0, -1)} (${code}).` : sentences[reason])
    this.reason = reason
    this.code = isShort ? code : ''
  }
}

/** Returns what to throw for an aborted signal: a `StorageFault` after a timeout, else its own reason. */
export function storageAbortReason(signal: AbortSignal): unknown {
  const reason: unknown = signal.reason
  return reason instanceof Error && reason.name === 'TimeoutError' ? new StorageFault('timed_out') : reason
}

/** Throws the `storageAbortReason` of an aborted signal. */
export function throwIfStorageAborted(signal: AbortSignal): void {
  if (signal.aborted) throw storageAbortReason(signal)
}

/** Waits for a promise until the signal is aborted. The work itself is not cancelled. */
export async function unlessAborted<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(storageAbortReason(signal))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
