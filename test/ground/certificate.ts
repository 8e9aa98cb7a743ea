/** A certificate for `safe.test` that signed itself, good until 2126, and its key: for servers of tests, and worth nothing. */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBljCCATugAwIBAgIUbPzUXcOxd4v4HEbFd5ylenE83AwwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJc2FmZS50ZXN0MCAXDTI2MTExNjA5MzkzNFoYDzIxMjYxMDIz
MDkzOTM0WjAUMRIwEAYDVQQDDAlzYWZlLnRlc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQsgJl8UJu5CuoWVfkEUCt3bSZ+WpeMqUyLx5iMCn2LdasMtra8R9t2
7Z2wVcnhZLrARSOo6sduWHfhOnQ4wuFHo2kwZzAdBgNVHQ4EFgQUjsAQYeULyujJ
S+b9AlhkA3RtZSwwHwYDVR0jBBgwFoAUjsAQYeULyujJS+b9AlhkA3RtZSwwDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglzYWZlLnRlc3QwCgYIKoZIzj0EAwID
SQAwRgIhAKQzwLpYO4x3Ma2ZjtRtmbv7Zwl1lNoeyZmp3mHWmAYkAiEA5mnaLwMg
iBSFI9m93OM27OpL3ANftfkxeSCLr+EcRPE=
-----END CERTIFICATE-----
`;

export const certificateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg+0jaGclEJUHvPUtl
hn9t96W/UfLmNeOY4XlpDmUBsv6hRANCAAQsgJl8UJu5CuoWVfkEUCt3bSZ+WpeM
qUyLx5iMCn2LdasMtra8R9t27Z2wVcnhZLrARSOo6sduWHfhOnQ4wuFH
-----END PRIVATE KEY-----
`;
