declare module 'busboy' {
  import type { Readable, Writable } from 'node:stream'

  interface FieldInfo {
    readonly nameTruncated: boolean
    readonly valueTruncated: boolean
  }
  interface Parser extends Writable {
    on(event: 'file', listener: (name: string, file: Readable, info: { filename?: string }) => void): this
    on(event: 'field', listener: (name: string, value: string, info: FieldInfo) => void): this
    on(event: 'filesLimit' | 'fieldsLimit' | 'partsLimit' | 'close' | 'drain', listener: () => void): this
    on(event: 'error', listener: (error: Error) => void): this
  }
  interface Options {
    readonly headers: { readonly 'content-type': string }
    readonly defCharset?: string
    readonly defParamCharset?: string
    readonly preservePath?: boolean
    readonly limits?: {
      readonly fields?: number
      readonly fieldSize?: number
      readonly fieldNameSize?: number
      readonly files?: number
    }
  }
  function busboy(options: Options): Parser
  export = busboy
}
