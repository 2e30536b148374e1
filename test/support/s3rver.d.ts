/** The part of @20minutes/s3rver that the tests use; it has no types. */
declare module '@20minutes/s3rver' {
  import type { AddressInfo } from 'node:net'

  export default class S3rver {
    constructor(options: {
      address: string
      port: number
      silent: boolean
      directory: string
      configureBuckets: { name: string }[]
    })
    run(): Promise<AddressInfo>
    close(): Promise<void>
  }
}

declare module '@20minutes/s3rver/lib/signature/v4.js' {
  const signature: { getStringToSign: (request: { uri: string }, signed: unknown) => string }
  export default signature
}

declare module '@20minutes/s3rver/lib/controllers/object.js' {
  interface Context {
    readonly headers: Record<string, string | undefined>
  }
  const objects: { putObjectCopy: (context: Context) => Promise<void> }
  export default objects
}
