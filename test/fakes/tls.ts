// A certificate nobody vouches for, so that a stand-in can show what a client does about it. Guards nothing.
import type { Tls } from "./server.ts";

export const selfSigned: Tls = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgrEdKM0deUyvnPVgm
KW8bHLagrqVSf5sN346VnEJBMiOhRANCAARdX6JCCQtbhW4Cbiwkcw/99h+qC5bp
WEdnA2qzAFcyGkdVjCiwG0IFW+3c1z+MEjR9tB4nY09Z3QMZlLwnT6Nb
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBjjCCATSgAwIBAgIUCAIrq6CBOCdM8LbFGlweDR1FFEMwCgYIKoZIzj0EAwIw
EzERMA8GA1UEAwwIc3RhbmQtaW4wIBcNMjYxMTE1MjIxODM4WhgPMjEyNjEwMjIy
MjE4MzhaMBMxETAPBgNVBAMMCHN0YW5kLWluMFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAEXV+iQgkLW4VuAm4sJHMP/fYfqguW6VhHZwNqswBXMhpHVYwosBtCBVvt
3Nc/jBI0fbQeJ2NPWd0DGZS8J0+jW6NkMGIwHQYDVR0OBBYEFMpZALlNcoCdPZmv
jdVxhEsIi6CEMB8GA1UdIwQYMBaAFMpZALlNcoCdPZmvjdVxhEsIi6CEMA8GA1Ud
EwEB/wQFMAMBAf8wDwYDVR0RBAgwBocEfwAAATAKBggqhkjOPQQDAgNIADBFAiAl
i0bjgezOjmN+mA2KXliImGcgQKm76/Zipk/eMpbaoAIhAOnEBaNEd1L6k0X+aDyF
Ploxj4goFqlWtahiGYsImPgK
-----END CERTIFICATE-----
`,
};
