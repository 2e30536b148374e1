declare module 'busboy' {
  import type { Readable, Writable } from 'node:stream'

  interface FieldInfo {
    readonly nameTruncated: boolean
    readonly valueTruncated: boolean
  }
  interface FileInfo {
    readonly filename?: string
    /** Of the part's content type; in a package with our patch. */
    readonly charset?: string
  }
  interface Parser extends Writable {
    on(event: 'file', listener: (name: string | undefined, file: Readable, info: FileInfo) => void): this
    on(event: 'field', listener: (name: string | undefined, value: string, info: FieldInfo) => void): this
    on(event: 'filesLimit' | 'fieldsLimit' | 'partsLimit' | 'close' | 'drain', listener: () => void): this
    on(event: 'error', listener: (error: Error) => void): this
  }
  interface Options {
    readonly headers: { readonly 'content-type': string }
    /** Decodes all texts, which name the charset; `utf8` if they name none. Added by our patch. */
    readonly decodeText?: (bytes: Buffer, charset: string) => string
    readonly preservePath?: boolean
    readonly limits?: {
      readonly fields?: number
      readonly fieldSize?: number
      readonly fieldNameSize?: number
      readonly files?: number
      readonly parts?: number
    }
  }
  function busboy(options: Options): Parser
  export = busboy
}
