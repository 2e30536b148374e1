/** A problem of one input field: its dotted path, a code, and a sentence. */
export interface FieldError {
  field: string
  code: string
  message: string
}

/** A problem whose message is the field and a sentence. */
export const fieldError = (field: string, code: string, sentence: string): FieldError => ({
  field,
  code,
  message: `${field} ${sentence}`
})

const kinds = {
  invalid: [400, 'ValidationException', 'The request is not valid.'],
  'not-logged-in': [403, 'NotLoggedInException', 'Access denied.'],
  forbidden: [403, 'PermissionDeniedException', 'Access denied.'],
  'not-found': [404, 'NotFoundException', 'Record not found.'],
  'method-not-allowed': [405, 'HttpMethodNotAllowedException', 'Method not allowed.'],
  'timed-out': [408, 'RequestTimeoutException', 'The body did not arrive in time.'],
  conflict: [409, 'ConflictException', 'The record is in use.'],
  gone: [410, 'GoneException', 'The record no longer exists.'],
  'unmet-condition': [412, 'PreconditionFailedException', 'A condition of the request is not met.'],
  'too-large': [413, 'PayloadTooLargeException', 'The body is too large.'],
  'wrong-media-type': [
    415,
    'UnsupportedMediaTypeException',
    'The body must be JSON (Content-Type: application/json).'
  ],
  'out-of-range': [416, 'RangeNotSatisfiableException', 'The range is outside the content.'],
  locked: [423, 'LockedException', 'Another request is changing the record: try again.'],
  'too-many': [429, 'RateLimitExceededException', 'Too many requests: try again later.'],
  'not-implemented': [501, 'NotImplementedException', 'Not implemented.'],
  unavailable: [503, 'ServiceUnavailableException', 'The server is overloaded or stopping: try again later.'],
  'storage-full': [507, 'StorageLocationFullException', 'The storage location is full.'],
  internal: [500, 'InternalErrorException', 'A generic exception has occurred.']
} as const satisfies Record<string, readonly [status: number, type: string, message: string]>

export type ApiErrorKind = keyof typeof kinds

/** An error that is returned to the caller of the API. Any other error is a bug and answered with 500. */
export class ApiError extends Error {
  readonly kind: ApiErrorKind
  readonly status: number
  /** The name of the exception that clients of the original know. */
  readonly type: string
  /** For 400 and 409, and where a field is named, with a list `errors`, which is empty if no single field is wrong. */
  readonly extraData: Record<string, unknown>
  /** Sent as `Retry-After`. */
  readonly retryAfterSeconds: number | null

  constructor(
    kind: ApiErrorKind,
    message: string = kinds[kind][2],
    extraData: Record<string, unknown> = kind === 'invalid' || kind === 'conflict' ? { errors: [] } : {},
    retryAfterSeconds: number | null = null
  ) {
    super(shorten(message))
    this.kind = kind
    this.status = kinds[kind][0]
    this.type = kinds[kind][1]
    this.extraData = extraData
    this.retryAfterSeconds = retryAfterSeconds
  }

  /** An error that lists all problems. Its message is that of the first one. */
  static ofFields(
    errors: [FieldError, ...FieldError[]],
    kind: 'invalid' | 'not-found' | 'conflict' | 'too-large' | 'storage-full' = 'invalid'
  ): ApiError {
    const shortened = errors.map(({ field, code, message }) => ({
      field: shorten(field),
      code,
      message: shorten(message)
    }))
    return new ApiError(kind, errors[0].message, { errors: shortened })
  }
}

/** Throws 400 with all problems, if there are any. */
export function assertNoFieldErrors([first, ...others]: readonly FieldError[]): void {
  if (first) throw ApiError.ofFields([first, ...others])
}

/** Throws 400 for a field or parameter. The message is its name and the sentence. */
export function refuseField(field: string, code: string, sentence: string): never {
  throw ApiError.ofFields([fieldError(field, code, sentence)])
}

/** Throws 400 for a body as a whole. */
export function refuseBody(code: string, message: string): never {
  throw ApiError.ofFields([{ field: '', code, message }])
}

const maxMessageLength = 2_000

/** Messages of validators contain what was sent: escaping a megabyte of it would make other requests wait. */
function shorten(text: string): string {
  if (text.length <= maxMessageLength) return text
  return `${text.slice(0, maxMessageLength).replace(/\p{Surrogate}$/u, '')}...`
}

/** A limit of this caller is reached. */
export class TooManyRequests extends ApiError {
  constructor(retryAfterSeconds: number, message?: string) {
    super('too-many', message, {}, retryAfterSeconds)
  }
}

/** Seconds after which a client of many may try again; random, so that they do not return at once. */
export const pickRetrySeconds = (): number => 5 + Math.floor(Math.random() * 11)

/** A limit of the server is reached. */
export class Overloaded extends ApiError {
  constructor(retryAfterSeconds: number, message: string) {
    super('unavailable', message, {}, retryAfterSeconds)
  }
}

/** Postgres or Redis is unreachable. */
export class StoreOffline extends ApiError {
  constructor() {
    super('unavailable', 'A store of this server does not answer: try again in a few seconds.', {}, 5)
  }
}

/** The `code` of an error; empty if it has none. */
export function errorCodeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
