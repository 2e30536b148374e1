import crypto from 'node:crypto'
import type { TransformOptions } from 'node:stream'

import objects from '@20minutes/s3rver/lib/controllers/object.js'
import signature from '@20minutes/s3rver/lib/signature/v4.js'

const { createCipheriv, createDecipheriv } = crypto
const { getStringToSign } = signature
const { putObjectCopy } = objects

/**
 * Patches s3rver 4.0.4 in this process for the tests:
 *
 * - The Amazon client signs the path of a bucket with a slash at its end, which s3rver omits when it
 * verifies.
 * - s3rver encrypts the last key of a page in its token with DES, which current OpenSSL does not support: AES
 * instead.
 * - Amazon and MinIO read the source of a copy as a URL: a `+` is a blank, and a `?` begins a query. s3rver does not.
 */
export function repairS3rver(): void {
  signature.getStringToSign = (request, signed) =>
    getStringToSign({ ...request, uri: request.uri.replace(/^\/[^/]+$/, '$&/') }, signed)
  objects.putObjectCopy = context => {
    const [source = ''] = (context.headers['x-amz-copy-source'] ?? '').replaceAll('+', ' ').split(/[?#]/)
    context.headers['x-amz-copy-source'] = encodeURI(decodeURIComponent(source))
    return putObjectCopy(context)
  }
  Object.assign(crypto, {
    createCipheriv: (name: string, key: Buffer, iv: Buffer, options?: TransformOptions) =>
      name === 'des'
        ? createCipheriv('aes-128-cbc', twice(key), twice(iv))
        : createCipheriv(name, key, iv, options),
    createDecipheriv: (name: string, key: Buffer, iv: Buffer, options?: TransformOptions) =>
      name === 'des'
        ? createDecipheriv('aes-128-cbc', twice(key), twice(iv))
        : createDecipheriv(name, key, iv, options)
  })
}

function twice(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, bytes])
}
