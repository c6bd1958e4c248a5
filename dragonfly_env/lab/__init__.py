"""The lab: experiments that use the library. Nothing outside imports it but the commands that start them."""
