const sentences = {
  unreachable: 'The server cannot be reached.',
  timed_out: 'The storage did not answer in time.',
  denied: 'Access was denied: the credentials or the rights are wrong.',
  bad_key: 'The private key cannot be read: its format or its pass phrase is wrong.',
  wrong_region: 'The bucket is in another region.',
  no_bucket: 'The bucket does not exist.',
  no_folder: 'The folder does not exist.',
  not_a_folder: 'The path is not a folder.',
  incomplete: 'The settings are not complete.',
  unusable: 'The storage gave an answer that cannot be used.'
} as const

/** One word for why a location cannot be used. */
export type StorageFaultWord = keyof typeof sentences

/**
 * Why a location cannot be checked or measured. The message is for the operator who set it up and carries no
 * secret: it is a fixed sentence and at most a short code (`ECONNREFUSED`, `SignatureDoesNotMatch`). What the
 * client library threw is left behind, since nobody knows all that is in it.
 */
export class StorageFault extends Error {
  readonly word: StorageFaultWord
  readonly code: string

  constructor(word: StorageFaultWord, code = '') {
    const isShort = /^[\w.-]{1,64}$/.test(code)
    super(isShort ? `${sentences[word].slice(0, -1)} (${code}).` : sentences[word])
    this.word = word
    this.code = isShort ? code : ''
  }
}

/** The `code` that Node and its libraries put on errors, `""` where there is none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/**
 * What to throw once a signal is aborted: a fault when its time was up, else its own reason (say a shutdown).
 */
export function storageFaultReason(signal: AbortSignal): unknown {
  const reason: unknown = signal.reason
  return reason instanceof Error && reason.name === 'TimeoutError' ? new StorageFault('timed_out') : reason
}

/** Throws the `reasonOf` a signal that is aborted. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw storageFaultReason(signal)
}

/** Waits for `promise`, but no longer than the signal allows; what it waited for may go on unheard. */
export async function untilAborted<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(storageFaultReason(signal))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
