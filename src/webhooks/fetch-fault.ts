const sentences = {
  blocked: 'The address must not lead to a private or special address.',
  dns: 'The name of the server is not known.',
  refused: 'The connection failed.',
  tls: 'The server shows no certificate that can be trusted.',
  timeout: 'The server did not answer in time.',
  http: 'The answer is not HTTP.',
  redirect: 'The server sends its callers to another address, which is not followed.',
  too_large: 'The answer is too large.'
} as const

/** One word for why there is no answer, or none that may be used. */
export type FetchFaultWord = keyof typeof sentences

/**
 * Why a request to an operator's address has no answer that may be used. The message is a sentence for the operator: no
 * address, and nothing of what was sent, is in it.
 */
export class FetchFault extends Error {
  readonly word: FetchFaultWord
  /** What the server answered; 0 where it did not come to that. */
  readonly status: number

  constructor(word: FetchFaultWord, { message, status = 0 }: { message?: string; status?: number } = {}) {
    super(message ?? sentences[word])
    this.word = word
    this.status = status
  }
}

/** Of the codes that Node gives its errors; the first pattern that fits counts. */
const words: readonly (readonly [RegExp, FetchFaultWord])[] = [
  [/^(ENOTFOUND|EAI_)/, 'dns'],
  [/CERT|SIGNATURE|HOSTNAME|_CA$|_CRL|_PUBLIC_KEY$/, 'tls'],
  [/^(ERR_O?SSL_|ERR_TLS_|PATH_LENGTH_)|^(EPROTO|INVALID_PURPOSE|UNSPECIFIED)$/, 'tls'],
  [/^HPE_/, 'http'],
  [/^E[A-Z]+$/, 'refused']
]

/** What a failed request threw, as a fault; anything that is a mistake of ours stays what it is. */
export function faultOf(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  const code = String(error.code)
  const word = words.find(([pattern]) => pattern.test(code))?.[1]
  if (word === undefined) return error
  return new FetchFault(word, { message: `${sentences[word].slice(0, -1)} (${code}).` })
}
